import type { Logger } from "../logging/logger.ts";
import type { Clock, Stopwatch } from "../model/clock.ts";
import type { Schedule } from "../model/schedule.ts";
import { type Database, row } from "../store/database.ts";
import { Following } from "../store/following.ts";

/** How often the database is asked what time it is, in milliseconds. */
const TURN_MS = 5000;
/** How far this machine's clock may be off before the operator is told, in milliseconds. */
const TOLERANCE_MS = 30_000;

/** Whose clock counts, and what the time is until it is known. */
interface SharedClockParts {
  readonly database: Database;
  readonly clock: Clock; // of this machine
  readonly elapsed: Stopwatch;
  /** By how much it was behind the database's, in milliseconds, as far as somebody before knew. */
  readonly behindMs?: number;
  /** Told by how much it is behind the database's, in milliseconds. */
  readonly learned?: (behindMs: number) => void;
  readonly log: Logger;
  readonly schedule?: Schedule;
}

/**
 * The time that several instances go by: that of the database, since the clock of one machine may be wrong. It goes on
 * evenly while the database is away, also for whoever takes over then; before it was ever there, it is this machine's.
 */
export class SharedClock {
  /** What the database's clock said, and when that was. */
  #asOf: { readonly time: number; readonly at: number } | undefined;
  #isOff = false;
  readonly #following: Following;

  constructor(readonly parts: SharedClockParts) {
    const { clock, elapsed, behindMs, log, schedule } = parts;
    if (behindMs !== undefined) this.#asOf = { time: clock() + behindMs, at: elapsed() };
    this.#following = new Following({
      look: () => this.#look(),
      everyMs: TURN_MS,
      trouble: "the database's clock is not followed",
      log,
      schedule,
    });
  }

  /** Milliseconds since the epoch. */
  readonly read: Clock = () => {
    const { clock, elapsed } = this.parts;
    return this.#asOf === undefined ? clock() : Math.floor(this.#asOf.time + elapsed() - this.#asOf.at);
  };

  /** Asks what time it is, now and again and again. */
  follow(): Promise<void> {
    return this.#following.begin();
  }

  close(): void {
    this.#following.close();
  }

  async #look(): Promise<void> {
    const { database, clock, elapsed, learned = () => {}, log } = this.parts;
    const asked = elapsed();
    const found = await database.read(() => row("SELECT :clock AS now", {}));
    const at = elapsed();
    // The answer says what the time was about half way between question and answer.
    const time = Number(found?.["now"]) + (at - asked) / 2;
    this.#asOf = { time, at };
    const aheadMs = clock() - time;
    learned(-aheadMs);
    const isOff = Math.abs(aheadMs) > TOLERANCE_MS;
    if (isOff && !this.#isOff) {
      const seconds = Math.round(Math.abs(aheadMs) / 1000);
      const direction = aheadMs > 0 ? "ahead of" : "behind";
      log.warn(`this machine's clock is ${direction} the database's, which counts for what is shared`, {
        seconds,
      });
    }
    this.#isOff = isOff;
  }
}
