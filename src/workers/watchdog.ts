import { type Stopwatch, stopwatch } from "../model/clock.ts";

/** How often a worker is asked for a sign of life, in milliseconds. */
export const PING_MS = 5000;

/** Pings in a row without any sign of life that mean death. */
const MOST_UNANSWERED = 4;

/** What is said of a worker that is dead so. */
export const SILENT = `no sign of life for ${MOST_UNANSWERED * PING_MS / 1000} s`;

/**
 * Tells whether a worker still lives, from what is heard of it between pings. Not time alone counts but pings that went
 * unanswered while we ourselves were on time: a process that was frozen, or whose host was, finds all its workers silent
 * and none of them dead. The clock is monotonic, so that setting the time of day kills nobody.
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

  /** The worker said something. */
  heard(): void {
    this.#heard = true;
  }

  /** To be called each {@link PING_MS}, before the next ping. @returns Whether the worker is dead. */
  tick(): boolean {
    const now = this.#elapsed();
    const late = now - this.#tickedAt > 2 * PING_MS;
    this.#tickedAt = now;
    this.#unanswered = this.#heard || late ? 0 : this.#unanswered + 1;
    this.#heard = false;
    return this.#unanswered >= MOST_UNANSWERED;
  }
}
