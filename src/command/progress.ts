import { type Stopwatch, stopwatch } from "../model/clock.ts";

/** Between two lines, in milliseconds. */
const PAUSE = 5000;

/** Prints, every five seconds, how much of a long task is done and how long the rest will take at the same speed. */
export class Progress {
  readonly #begin: number;
  #printed: number;

  constructor(
    readonly what: string,
    readonly total: number,
    readonly print: (line: string) => void,
    readonly now: Stopwatch = stopwatch,
  ) {
    this.#begin = this.#printed = now();
  }

  report(done: number): void {
    const now = this.now();
    if (now - this.#printed < PAUSE || done === 0) return;
    this.#printed = now;
    const left = Math.ceil((now - this.#begin) / 1000 * Math.max(this.total - done, 0) / done);
    this.print(`${this.what}: ${done} of ${this.total}, about ${left} s left\n`);
  }
}
