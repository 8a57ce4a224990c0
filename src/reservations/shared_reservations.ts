import type { Logger } from "../logging/logger.ts";
import type { Clock, Stopwatch } from "../model/clock.ts";
import type { Schedule } from "../model/schedule.ts";
import { BATCH, type Database, deleteInBatches, rows } from "../store/database.ts";
import { Following } from "../store/following.ts";
import { toReservation } from "./database_reservation_store.ts";
import type { Reservation } from "./reservation.ts";
import { KnownReservations, type ReservationRegistry } from "./reservation_registry.ts";

/** How often is looked whether somebody changed something, in milliseconds. */
const LOOK_MS = 100;
/** How often all is read again, changed or not, in milliseconds. */
const REREAD_MS = 15_000;
/** How often what was over long ago is deleted, in milliseconds. */
const PURGE_MS = 10 * 60_000;
/** For how long what is over can still be listed, in milliseconds: 30 days. */
const KEPT_MS = 30 * 24 * 3600_000;

const TABLE = "reservation";

const SQL = {
  all: `SELECT * FROM reservation WHERE ends > :clock ORDER BY starts, name, id`,
  purge: `DELETE FROM reservation WHERE id IN (
    SELECT id FROM reservation WHERE ends <= :clock - :kept ORDER BY ends LIMIT ${BATCH}) RETURNING id`,
} as const;

/** All of each logical server, as they were known at a moment, for whoever follows while the database may be away. */
export type ReservationsKnown = readonly (readonly [server: string, reservations: readonly Reservation[]])[];

/** Where they are, and what time it is. */
interface SharedReservationsParts {
  readonly database: Database;
  readonly elapsed: Stopwatch;
  /** That all instances go by. */
  readonly clock: Clock;
  /** What somebody before knew. */
  readonly known?: ReservationsKnown;
  /** Told of what is known from now on. */
  readonly learned?: (known: ReservationsKnown) => void;
  readonly log: Logger;
  readonly schedule?: Schedule;
}

/**
 * The reservations of all logical servers in the database that instances share, known here as a whole. While the database is
 * away, those that were known last hold.
 */
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

  /** Reads them, and follows their changes from now on. */
  follow(): Promise<void> {
    return this.#following.begin();
  }

  /** @param zone Time zone to write times in. */
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
