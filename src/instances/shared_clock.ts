import type { Logger } from "../logging/logger.ts";
import type { Clock, Schedule, Stopwatch } from "../model/clock.ts";
import { type Database, row } from "../store/database.ts";
import { Poller } from "../store/poller.ts";

const POLL_MS = 15_000;
/** Error that is always accepted, in milliseconds; otherwise the clock uses the better of two agreeing replies. */
const GOOD_MS = 20;
const TOLERANCE_MS = 30_000; // deviation of the local clock that is logged, in milliseconds

interface SharedClockParts {
  readonly database: Database;
  readonly clock: Clock; // local clock
  readonly elapsed: Stopwatch;
  readonly behindMs?: number; // milliseconds behind the database's clock, from a predecessor
  readonly learned?: (behindMs: number) => void; // called with the milliseconds behind the database's clock
  readonly log: Logger;
  readonly schedule?: Schedule;
}

/** Common clock of instances: the database's, continued during outages; before the first contact the local one. */
export class SharedClock extends Poller {
  #asOf: { readonly time: number; readonly at: number; readonly errorMs: number } | undefined;
  #isOff = false;
  constructor(readonly parts: SharedClockParts) {
    const { clock, elapsed, behindMs, log, schedule } = parts;
    super({
      poll: () => this.#poll(),
      intervalMs: POLL_MS,
      failureMessage: "the database's clock is not followed",
      log,
      schedule,
    });
    if (behindMs !== undefined) this.#asOf = { time: clock() + behindMs, at: elapsed(), errorMs: GOOD_MS };
  }

  /** Milliseconds since the epoch. */
  readonly read: Clock = () => {
    const { clock, elapsed } = this.parts;
    return this.#asOf === undefined ? clock() : Math.floor(this.#asOf.time + elapsed() - this.#asOf.at);
  };

  async #poll(): Promise<void> {
    const { database, clock, elapsed, learned = () => {}, log } = this.parts;
    const sentAt = elapsed();
    const found = await database.read(() => row("SELECT :clock AS now", {}));
    const at = elapsed();
    // The reply's time is in the middle between request and reply, give or take half the round trip.
    const errorMs = (at - sentAt) / 2;
    const time = Number(found?.["now"]) + errorMs;
    const isBetter = errorMs <= Math.max(GOOD_MS, this.#asOf?.errorMs ?? Infinity);
    if (isBetter || Math.abs(this.read() - time) > errorMs) this.#asOf = { time, at, errorMs };
    const aheadMs = clock() - this.read();
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
