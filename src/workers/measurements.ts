import process from "node:process";
import type { Increments } from "../metrics/counters.ts";
import { type Stopwatch, stopwatch } from "../model/clock.ts";

/** How often a worker reports, in milliseconds. */
const REPORT_MS = 1000;
/** Milliseconds between two looks at the clock: a stall is found to be at most so much shorter than it was. */
const LOOK_MS = 20;

/** What happened in a worker since its last report. Plain data. */
export interface Report {
  readonly counts: Increments;
  /** How late each look at the clock was, in milliseconds: whoever waits for the event loop waits as long. */
  readonly delaysMs: readonly number[];
  /**
   * The longest time by which a look was late because of work of the worker itself, in milliseconds: a thread also stands
   * still where the machine has no processor for it.
   */
  readonly ownDelayMs: number;
  readonly rejections: number; // promises that were rejected and nobody handled
}

/** Reports once a second what a worker counted, how long its event loop stood still, and defects that it survived. */
export class Measurements {
  readonly #take: () => Increments;
  readonly #post: (report: Report) => void;
  #delaysMs: number[] = [];
  #ownDelayMs = 0;
  #rejections = 0;

  /** @param worked Processor time of this thread. */
  constructor(
    take: () => Increments,
    post: (report: Report) => void,
    { elapsed = stopwatch, worked = threadMs }: {
      readonly elapsed?: Stopwatch;
      readonly worked?: Stopwatch;
    } = {},
  ) {
    this.#take = take;
    this.#post = post;
    let [lookedAt, reportedAt, workedBefore] = [elapsed(), elapsed(), worked()];
    setInterval(() => {
      const [now, workedNow] = [elapsed(), worked()];
      const delay = Math.max(0, Math.round((now - lookedAt - LOOK_MS) * 10) / 10);
      this.#delaysMs.push(delay);
      this.#ownDelayMs = Math.max(this.#ownDelayMs, Math.min(delay, workedNow - workedBefore));
      [lookedAt, workedBefore] = [now, workedNow];
      if (now - reportedAt < REPORT_MS) return;
      reportedAt = now;
      this.report();
    }, LOOK_MS);
  }

  /** A promise was rejected and nobody handled it. */
  rejected(): void {
    this.#rejections++;
  }

  /** Reports now; the last time when the worker closes, so that nothing counted is lost. */
  report(): void {
    this.#post({
      counts: this.#take(),
      delaysMs: this.#delaysMs,
      ownDelayMs: this.#ownDelayMs,
      rejections: this.#rejections,
    });
    this.#delaysMs = [];
    this.#ownDelayMs = 0;
    this.#rejections = 0;
  }
}

/** Milliseconds of processor time that this thread has had, in steps of those that the system counts in. */
function threadMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}
