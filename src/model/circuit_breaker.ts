import type { Stopwatch } from "./clock.ts";

/** Circuit breaker: opens after failures, then admits one trial (half-open) after each pause. */
export class CircuitBreaker {
  #failingSince: number | undefined;
  #pauseMs = 0;
  #until = -Infinity;
  #trial = false;

  constructor(
    readonly options: {
      readonly elapsed: Stopwatch;
      /** Pause before the first trial; each failed trial doubles it, up to the longest. */
      readonly firstPauseMs: number;
      readonly maxPauseMs: number;
      readonly toleranceMs?: number; // how long attempts must fail before it opens; default: not at all
    },
  ) {}

  /** Reports whether the latest completed attempt failed. */
  get isFailing(): boolean {
    return this.#failingSince !== undefined;
  }

  /** Reports whether attempts have failed for longer than the tolerance. */
  get isOpen(): boolean {
    return this.#pauseMs > 0;
  }

  /** Milliseconds until a trial may begin; 0 if closed or half-open. */
  get waitMs(): number {
    return this.isOpen ? Math.max(0, this.#until - this.options.elapsed()) : 0;
  }

  get admits(): boolean {
    return !this.isOpen || (!this.#trial && this.waitMs === 0);
  }

  /** Begins an attempt if the breaker admits it. The returned function ends it, after success or failure. */
  begin(): (() => void) | undefined {
    if (!this.admits) return undefined;
    if (!this.isOpen) return () => {};
    this.#trial = true;
    return () => void (this.#trial = false);
  }

  succeeded(): void {
    this.#failingSince = undefined;
    this.#pauseMs = 0;
    this.#until = -Infinity;
  }

  /** Records a failure. `pauseOf` may adjust the next pause. */
  failed(pauseOf: (dueMs: number) => number = (dueMs) => dueMs): void {
    const { elapsed, firstPauseMs, maxPauseMs, toleranceMs = 0 } = this.options;
    const now = elapsed();
    this.#failingSince ??= now;
    if (now - this.#failingSince < toleranceMs) return;
    // Many attempts that began before it opened may fail at once: the pause doubles for a trial only.
    if (now < this.#until) {
      this.#until = Math.max(this.#until, now + pauseOf(0));
      return;
    }
    this.#pauseMs = Math.min(2 * this.#pauseMs || firstPauseMs, maxPauseMs);
    this.#until = now + pauseOf(this.#pauseMs);
  }
}
