import { type ErrorCode, ServiceError } from "../../model/service_error.ts";

/** More work waits than can be done in reasonable time. */
export class TooMuchWork extends ServiceError {
  readonly code: ErrorCode = "ERR_TOO_MUCH_WORK";
  readonly status = 503;
  readonly publicMessage = "The service is busy, please try again later";
  override readonly headers = { "Retry-After": "5" };

  constructor(waiting: number) {
    super(`${waiting} checks of passwords wait already`);
  }
}

/** Lets few pieces of costly work run at the same time; the others wait in the order in which they came. */
export class WorkSlots {
  #free: number;
  readonly #maxWaiting: number;
  readonly #waiting = new Set<() => void>();

  /** @param maxWaiting How many may wait; more are refused. */
  constructor(slots: number, maxWaiting: number) {
    this.#free = slots;
    this.#maxWaiting = maxWaiting;
  }

  /**
   * Runs the work when there is a slot.
   * @throws {TooMuchWork} If too many wait.
   * @throws The signal's reason, if it is aborted before the work began. Work that has begun is not cut.
   */
  async run<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> {
    signal.throwIfAborted();
    if (this.#free > 0) this.#free--;
    else await this.#wait(signal);
    try {
      return await work();
    } finally {
      this.#release();
    }
  }

  /** Waits until another's slot is passed on. */
  #wait(signal: AbortSignal): Promise<void> {
    if (this.#waiting.size >= this.#maxWaiting) throw new TooMuchWork(this.#waiting.size);
    return new Promise((resolve, reject) => {
      const stop = () => {
        this.#waiting.delete(start);
        reject(signal.reason);
      };
      const start = () => {
        signal.removeEventListener("abort", stop);
        resolve();
      };
      this.#waiting.add(start);
      signal.addEventListener("abort", stop, { once: true });
    });
  }

  #release(): void {
    const [next] = this.#waiting;
    if (next === undefined) {
      this.#free++;
      return;
    }
    this.#waiting.delete(next);
    next();
  }
}
