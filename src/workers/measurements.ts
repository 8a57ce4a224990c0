import process from "node:process";
import type { Increments } from "../metrics/counters.ts";
import { type Stopwatch, stopwatch } from "../model/clock.ts";

/** Report interval in milliseconds. */
const REPORT_MS = 1000;
/** Interval of clock readings in milliseconds: the error of a measured stall. */
const LOOK_MS = 100;

/** Events in a worker since its last report, as plain data. */
export interface Report {
  readonly counts: Increments;
  /** Delays of the clock readings, as any other task waits for the event loop. */
  readonly delaysMs: readonly number[];
  /** Longest delay caused by the worker's own work, in milliseconds, not by a lack of processors. */
  readonly ownDelayMs: number;
  readonly rejections: number; // promises that were rejected and nobody handled
}

/** Reports counts, event loop delays and survived defects of a worker once a second. */
export class Measurements {
  #delaysMs: number[] = [];
  #ownDelayMs = 0;
  #rejections = 0;

  constructor(
    readonly take: () => Increments,
    readonly post: (report: Report) => void,
    { elapsed = stopwatch, worked = threadMs }: {
      readonly elapsed?: Stopwatch;
      readonly worked?: Stopwatch;
    } = {},
  ) {
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

  /** Counts an unhandled rejection. */
  rejected(): void {
    this.#rejections++;
  }

  /** Reports now; also at the end of the worker. */
  report(): void {
    this.post({
      counts: this.take(),
      delaysMs: this.#delaysMs,
      ownDelayMs: this.#ownDelayMs,
      rejections: this.#rejections,
    });
    this.#delaysMs = [];
    this.#ownDelayMs = 0;
    this.#rejections = 0;
  }
}

/** Returns the thread's processor time in milliseconds, in the system's clock ticks. */
function threadMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}
