import type { Logger } from "../logging/logger.ts";
import type { Clock, Stopwatch } from "../model/clock.ts";
import { realTime, type Schedule } from "../model/schedule.ts";
import { type Database, DatabaseFailure, row, rows, type Work } from "../store/database.ts";
import { toReservation } from "./database_reservation_store.ts";
import type { Reservation } from "./reservation.ts";
import { KnownReservations, type ReservationBook } from "./reservation_book.ts";

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
  now: `SELECT :clock AS now`,
  all: `SELECT * FROM reservation WHERE ends > :clock ORDER BY starts, name, id`,
  purge: `DELETE FROM reservation WHERE ends <= :clock - :kept`,
} as const;

/** All that were known at a moment, for whoever follows while the database may be away. */
export interface ReservationsKnown {
  /** By how much the database's clock was ahead of this machine's, in milliseconds. */
  readonly aheadMs: number;
  /** Those of each logical server. */
  readonly servers: readonly (readonly [server: string, reservations: readonly Reservation[]])[];
}

/** Where they are, and what time it is. */
interface SharedReservationsParts {
  readonly database: Database;
  readonly elapsed: Stopwatch;
  /** Of this machine. */
  readonly clock: Clock;
  /** What somebody before knew. */
  readonly known?: ReservationsKnown;
  /** Told of what is known from now on. */
  readonly learned?: (known: ReservationsKnown) => void;
  readonly log: Logger;
  readonly schedule?: Schedule;
}

/**
 * The reservations of all logical servers in the database that instances share, known here as a whole. They begin and end by
 * the database's clock. While the database is away, those that were known last hold.
 */
export class SharedReservations {
  #all: ReadonlyMap<string, readonly Reservation[]> = new Map();
  #version: number | undefined;
  /** What the database's clock said, and when that was. */
  #asOf = { clock: -Infinity, elapsed: 0 };
  #purgedAt: number;
  #cancel: (() => void) | undefined;
  #closed = false;

  constructor(readonly parts: SharedReservationsParts) {
    const { clock, elapsed, known } = parts;
    this.#purgedAt = elapsed();
    if (known === undefined) return;
    this.#all = new Map(known.servers);
    this.#asOf = { clock: clock() + known.aheadMs, elapsed: elapsed() };
  }

  /** Reads them, and follows their changes from now on. */
  async follow(): Promise<void> {
    const { log, schedule = realTime } = this.parts;
    try {
      await this.#look();
    } catch (error) {
      if (!(error instanceof DatabaseFailure)) log.error("reservations are not followed", { error });
    }
    if (!this.#closed) this.#cancel = schedule(LOOK_MS, () => void this.follow());
  }

  /** @param zone Time zone to write times in. */
  book(server: string, zone: string): ReservationBook {
    return new KnownReservations({
      known: () => this.#all.get(server) ?? [],
      zone,
      clock: () => this.#now(),
    });
  }

  close(): void {
    this.#closed = true;
    this.#cancel?.();
  }

  #now(): number {
    const { clock, elapsed } = this.#asOf;
    return Math.floor(clock + this.parts.elapsed() - elapsed);
  }

  async #look(): Promise<void> {
    const { database, elapsed, clock, learned = () => {} } = this.parts;
    const version = database.version(TABLE);
    if (version === this.#version && elapsed() - this.#asOf.elapsed < REREAD_MS) return;
    const { now, found } = await database.read(function* () {
      const now = Number((yield* row(SQL.now, {}))?.["now"]);
      return { now, found: yield* rows(SQL.all, {}) };
    });
    this.#asOf = { clock: now, elapsed: elapsed() };
    const byServer = Map.groupBy(found, ({ server }) => String(server));
    this.#all = new Map([...byServer].map(([server, found]) => [server, found.map(toReservation)]));
    this.#version = version;
    learned({ aheadMs: now - clock(), servers: [...this.#all] });
    await this.#purge();
  }

  async #purge(): Promise<void> {
    const { database, elapsed } = this.parts;
    if (elapsed() - this.#purgedAt < PURGE_MS) return;
    this.#purgedAt = elapsed();
    await database.change(function* (): Work<void> {
      yield* row(SQL.purge, { kept: KEPT_MS });
    });
  }
}
