import type { Increments } from "../metrics/counters.ts";

/** How often a room reports, in milliseconds. */
const REPORT_MS = 1000;
/** Milliseconds between two looks at the clock: a stall is found to be at most so much shorter than it was. */
const LOOK_MS = 20;

/** What happened in a room since its last report. Plain data. */
export interface Report {
  readonly counts: Increments;
  /** How late each look at the clock was, in milliseconds: whoever waits for the event loop waits as long. */
  readonly delaysMs: readonly number[];
  /** Promises that were rejected and nobody handled. */
  readonly rejections: number;
}

/** Reports once a second what a room counted, how long its event loop stood still, and defects that it survived. */
export class Measurements {
  readonly #take: () => Increments;
  readonly #post: (report: Report) => void;
  #delaysMs: number[] = [];
  #rejections = 0;

  constructor(take: () => Increments, post: (report: Report) => void) {
    this.#take = take;
    this.#post = post;
    let [lookedAt, reportedAt] = [performance.now(), performance.now()];
    setInterval(() => {
      const now = performance.now();
      this.#delaysMs.push(Math.max(0, Math.round((now - lookedAt - LOOK_MS) * 10) / 10));
      lookedAt = now;
      if (now - reportedAt < REPORT_MS) return;
      reportedAt = now;
      this.report();
    }, LOOK_MS);
  }

  /** A promise was rejected and nobody handled it. */
  rejected(): void {
    this.#rejections++;
  }

  /** Reports now; the last time when the room closes, so that nothing counted is lost. */
  report(): void {
    this.#post({ counts: this.#take(), delaysMs: this.#delaysMs, rejections: this.#rejections });
    this.#delaysMs = [];
    this.#rejections = 0;
  }
}
