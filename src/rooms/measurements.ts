import type { Increments } from "../metrics/counters.ts";

/** How often a room reports what it counted, in milliseconds. */
const REPORT_MS = 1000;
/** Looks at the clock between two reports. */
const LOOKS = 4;

/** Reports once a second what a room counted, and how late its timers were: whoever waits for them waits as long. */
export class Measurements {
  readonly #take: () => Increments;
  readonly #post: (counts: Increments, lagMs: number) => void;
  #expected: number;
  #lagMs = 0;
  #looks = 0;

  constructor(take: () => Increments, post: (counts: Increments, lagMs: number) => void) {
    this.#take = take;
    this.#post = post;
    const pause = REPORT_MS / LOOKS;
    this.#expected = performance.now() + pause;
    setInterval(() => {
      const now = performance.now();
      this.#lagMs = Math.max(this.#lagMs, now - this.#expected);
      this.#expected = now + pause;
      if (++this.#looks % LOOKS === 0) this.report();
    }, pause);
  }

  /** Reports now; the last time when the room closes, so that nothing counted is lost. */
  report(): void {
    this.#post(this.#take(), Math.round(this.#lagMs * 10) / 10);
    this.#lagMs = 0;
  }
}
