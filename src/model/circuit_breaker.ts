import type { Stopwatch } from "./clock.ts";

interface CircuitBreakerOptions {
  readonly elapsed: Stopwatch;
  /** Milliseconds until the first trial; each trial that fails doubles the pause, up to the longest. */
  readonly firstPauseMs: number;
  readonly longestPauseMs: number;
  /** Milliseconds for which attempts have to fail before it opens. Default 0: the first failure opens it. */
  readonly toleranceMs?: number;
}

/**
 * Circuit breaker: admits every attempt while closed. After failures it is open and admits none until a pause is over. Then it is half-open:
 * one trial may begin, whose success closes it and whose failure makes the next pause longer.
 */
export class CircuitBreaker {
  readonly #options: CircuitBreakerOptions;
  /** When the first attempt failed since one succeeded. */
  #failingSince: number | undefined;
  #pauseMs = 0;
  #until = -Infinity;
  #trial = false;

  constructor(options: CircuitBreakerOptions) {
    this.#options = options;
  }

  /** Whether an attempt failed, and none has succeeded since. */
  get isFailing(): boolean {
    return this.#failingSince !== undefined;
  }

  /** Whether attempts have failed for longer than is tolerated. */
  get isOpen(): boolean {
    return this.#pauseMs > 0;
  }

  /** Milliseconds until a trial may begin; 0 if it is closed or half-open. */
  get waitMs(): number {
    return this.isOpen ? Math.max(0, this.#until - this.#options.elapsed()) : 0;
  }

  /** Whether an attempt may begin now. */
  get admits(): boolean {
    return !this.isOpen || (!this.#trial && this.waitMs === 0);
  }

  /** Begins an attempt, if it is admitted. @returns Ends it, whatever came of it; absent if it must not be made. */
  begin(): (() => void) | undefined {
    if (!this.admits) return undefined;
    if (!this.isOpen) return () => {};
    this.#trial = true;
    return () => void (this.#trial = false);
  }

  succeeded(): void {
    this.#failingSince = undefined;
    this.#pauseMs = 0;
  }

  /** @param pauseOf Makes the next pause of the one that is due, in milliseconds. */
  failed(pauseOf: (dueMs: number) => number = (dueMs) => dueMs): void {
    const { elapsed, firstPauseMs, longestPauseMs, toleranceMs = 0 } = this.#options;
    const now = elapsed();
    this.#failingSince ??= now;
    if (now - this.#failingSince < toleranceMs) return;
    this.#pauseMs = Math.min(2 * this.#pauseMs || firstPauseMs, longestPauseMs);
    this.#until = now + pauseOf(this.#pauseMs);
  }
}
