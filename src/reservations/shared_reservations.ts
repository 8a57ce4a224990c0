import type { Logger } from "../logging/logger.ts";
import type { Clock, Stopwatch } from "../model/clock.ts";
import type { Schedule } from "../model/schedule.ts";
import { BATCH, type Database, deleteInBatches, rows } from "../store/database.ts";
import { Following } from "../store/following.ts";
import { toReservation } from "./database_reservation_store.ts";
import type { Reservation } from "./reservation.ts";
import { KnownReservations, type ReservationRegistry } from "./reservation_registry.ts";

const LOOK_MS = 100; // interval of checks for changes
const REREAD_MS = 15_000; // interval of full reads
const PURGE_MS = 10 * 60_000; // interval of deleting old reservations
const KEPT_MS = 30 * 24 * 3600_000; // how long past reservations stay listed

const TABLE = "reservation";

const SQL = {
  all: `SELECT * FROM reservation WHERE ends > :clock ORDER BY starts, name, id`,
  purge: `DELETE FROM reservation WHERE id IN (
    SELECT id FROM reservation WHERE ends <= :clock - :kept ORDER BY ends LIMIT ${BATCH}) RETURNING id`,
} as const;

/** Reservations of each logical server at a moment, for a successor. */
export type ReservationsKnown = readonly (readonly [server: string, reservations: readonly Reservation[]])[];

interface SharedReservationsParts {
  readonly database: Database;
  readonly elapsed: Stopwatch;
  readonly clock: Clock; // shared by all instances
  readonly known?: ReservationsKnown; // state of a predecessor
  readonly learned?: (known: ReservationsKnown) => void; // called with each new state
  readonly log: Logger;
  readonly schedule?: Schedule;
}

/** Cached reservations of all logical servers in a shared database; they stay valid during outages. */
export class SharedReservations {
  #all: ReadonlyMap<string, readonly Reservation[]> = new Map();
  #version: number | undefined;
  #readAt = -Infinity;
  #purgedAt: number;
  readonly #following: Following;

  constructor(readonly parts: SharedReservationsParts) {
    const { elapsed, known = [], log, schedule } = parts;
    this.#purgedAt = elapsed();
    this.#all = new Map(known);
    this.#following = new Following({
      look: () => this.#look(),
      everyMs: LOOK_MS,
      trouble: "reservations are not followed",
      log,
      schedule,
    });
  }

  /** Reads the reservations and follows their changes. */
  follow(): Promise<void> {
    return this.#following.begin();
  }

  /** Zone to format times in. */
  registry(server: string, zone: string): ReservationRegistry {
    return new KnownReservations({
      known: () => this.#all.get(server) ?? [],
      zone,
      clock: this.parts.clock,
    });
  }

  close(): void {
    this.#following.close();
  }

  async #look(): Promise<void> {
    const { database, elapsed, learned = () => {} } = this.parts;
    const version = database.version(TABLE);
    if (version === this.#version && elapsed() - this.#readAt < REREAD_MS) return;
    const found = await database.read(() => rows(SQL.all, {}));
    this.#readAt = elapsed();
    const byServer = Map.groupBy(found, ({ server }) => String(server));
    this.#all = new Map([...byServer].map(([server, found]) => [server, found.map(toReservation)]));
    this.#version = version;
    learned([...this.#all]);
    await this.#purge();
  }

  async #purge(): Promise<void> {
    const { database, elapsed } = this.parts;
    if (elapsed() - this.#purgedAt < PURGE_MS) return;
    this.#purgedAt = elapsed();
    await deleteInBatches(database, SQL.purge, { kept: KEPT_MS });
  }
}
