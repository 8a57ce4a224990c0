/** Lets a few tasks run at a time and some more wait their turn, first come, first served. */
export class LookupSlots {
  #running = 0;
  readonly #waiting: (() => void)[] = [];

  constructor(readonly limits: { readonly running: number; readonly waiting: number }) {}

  /**
   * Runs a task when it is its turn.
   * @param signal If aborted before the turn has come, the task is never run.
   * @throws {Error} If too many are waiting; the signal's reason; what the task throws.
   */
  async run<T>(task: () => Promise<T>, signal: AbortSignal): Promise<T> {
    signal.throwIfAborted();
    if (this.#running >= this.limits.running) await this.#turn(signal);
    else this.#running++;
    try {
      signal.throwIfAborted();
      return await task();
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#running--;
      else next();
    }
  }

  #turn(signal: AbortSignal): Promise<void> {
    if (this.#waiting.length >= this.limits.waiting) throw new Error("too many lookups are waiting");
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const leave = () => {
      this.#waiting.splice(this.#waiting.indexOf(start), 1);
      reject(signal.reason);
    };
    const start = () => {
      signal.removeEventListener("abort", leave);
      resolve();
    };
    this.#waiting.push(start);
    signal.addEventListener("abort", leave, { once: true });
    return promise;
  }
}
