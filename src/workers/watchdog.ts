import { type Stopwatch, stopwatch } from "../model/clock.ts";

/** Ping interval in milliseconds. */
export const PING_MS = 5000;

/** Unanswered pings in a row that mean death. */
const MOST_UNANSWERED = 4;

/** Reason for the log. */
export const SILENT = `no sign of life for ${MOST_UNANSWERED * PING_MS / 1000} s`;

/**
 * Detects dead workers by unanswered pings, counted only while we were on time: after a freeze of process or host, silent
 * workers may be alive. The clock is monotonic.
 */
export class Watchdog {
  readonly #elapsed: Stopwatch;
  #tickedAt: number;
  #heard = true;
  #unanswered = 0;

  constructor(elapsed = stopwatch) {
    this.#elapsed = elapsed;
    this.#tickedAt = elapsed();
  }

  /** Records a sign of life. */
  heard(): void {
    this.#heard = true;
  }

  /** Call it every {@link PING_MS}, before the next ping. Returns whether the worker is dead. */
  tick(): boolean {
    const now = this.#elapsed();
    const late = now - this.#tickedAt > 2 * PING_MS;
    this.#tickedAt = now;
    this.#unanswered = this.#heard || late ? 0 : this.#unanswered + 1;
    this.#heard = false;
    return this.#unanswered >= MOST_UNANSWERED;
  }
}
