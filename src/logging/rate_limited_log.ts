import { stopwatch } from "../model/clock.ts";
import type { Fields, Logger } from "./logger.ts";

/** Lines per period, and its milliseconds. */
const MAX_LINES = 20;
const PERIOD_MS = 10_000;

/** Rate-limits lines that unknown clients can cause, and logs the number of dropped ones. */
export class RateLimitedLog {
  #since = -Infinity;
  #written = 0;
  #dropped = 0;

  constructor(readonly log: Logger, readonly elapsed = stopwatch) {}

  write(message: string, fields: Fields): void {
    const now = this.elapsed();
    if (now - this.#since >= PERIOD_MS) {
      this.flush();
      this.#since = now;
      this.#written = 0;
    }
    if (this.#written < MAX_LINES) {
      this.#written++;
      this.log.info(message, fields);
    } else this.#dropped++;
  }

  flush(): void {
    if (this.#dropped > 0) this.log.info("more of the same not listed", { lines: this.#dropped });
    this.#dropped = 0;
  }
}
