import { FairQueue, type FairQueueLimits } from "./fair_queue.ts";

/** Error for work that got no permit: no room to wait, timeout, or displacement. */
export class NoPermit extends Error {}

const REASONS = {
  late: "no turn in time, too many were before",
  displaced: "others needed the room",
} as const;

export interface SemaphoreLimits extends FairQueueLimits {
  readonly maxConcurrent: number; // concurrent permits
  readonly reservedForKnown?: number; // permits reserved for known clients. Default: 0
  readonly knownWeight?: number; // turns of known clients per turn of an unknown one while both wait. Default: 1
  readonly maxConcurrentPerKey?: number; // concurrent permits per queue key. Default: all
  readonly maxWaitMs?: number; // milliseconds. Default: no limit
}

/** Identity and priority of a waiter. */
export interface SemaphoreWaiter {
  readonly queueKey: string;
  /** Known clients queue separately, so that no number of unknown clients can delay them. */
  readonly known: boolean;
  readonly signal: AbortSignal; // ends the wait; running work has to observe it itself
}

/** Semaphore whose waiters take turns in a {@link FairQueue}. */
export class FairSemaphore {
  readonly #known: FairQueue;
  readonly #unknown: FairQueue;
  readonly #inFlight = new Map<string, number>(); // running work by queue key
  #count = 0;
  #unknownCount = 0; // running work of unknown clients
  #knownInRow = 0;

  /** @param limits The limits on waiting apply to known and unknown clients separately. */
  constructor(readonly limits: SemaphoreLimits) {
    this.#known = new FairQueue(limits);
    this.#unknown = new FairQueue(limits);
  }

  /** @throws {NoPermit} The work did not begin. @throws The signal's reason before the work begins; later its error. */
  async run<T>(work: () => Promise<T>, waiter: SemaphoreWaiter): Promise<T> {
    const { signal } = waiter;
    signal.throwIfAborted();
    if (this.#mayRun(waiter)) this.#enter(waiter);
    else await this.#turn(waiter);
    try {
      signal.throwIfAborted();
      return await work();
    } finally {
      this.#leave(waiter);
    }
  }

  #turn({ queueKey, known, signal }: SemaphoreWaiter): Promise<void> {
    const { maxWaitMs } = this.limits;
    return new Promise((resolve, reject) => {
      const joined = (known ? this.#known : this.#unknown).join({
        queueKey,
        signal,
        maxWaitMs,
        called: () => {
          this.#enter({ queueKey, known });
          resolve();
        },
        left: (why) => reject(why === "aborted" ? signal.reason : new NoPermit(REASONS[why])),
      });
      if (!joined) reject(new NoPermit("too many are waiting"));
    });
  }

  #mayRun({ queueKey, known }: Pick<SemaphoreWaiter, "queueKey" | "known">): boolean {
    const { maxConcurrent, reservedForKnown = 0 } = this.limits;
    return this.#count < maxConcurrent && (known || this.#unknownCount < maxConcurrent - reservedForKnown) &&
      this.#runningIn(queueKey) < (this.limits.maxConcurrentPerKey ?? Infinity);
  }

  #runningIn(queueKey: string): number {
    return this.#inFlight.get(queueKey) ?? 0;
  }

  #enter({ queueKey, known }: Pick<SemaphoreWaiter, "queueKey" | "known">): void {
    this.#count++;
    if (!known) this.#unknownCount++;
    this.#inFlight.set(queueKey, this.#runningIn(queueKey) + 1);
  }

  #leave({ queueKey, known }: Pick<SemaphoreWaiter, "queueKey" | "known">): void {
    this.#count--;
    if (!known) this.#unknownCount--;
    const others = this.#runningIn(queueKey) - 1;
    if (others === 0) this.#inFlight.delete(queueKey);
    else this.#inFlight.set(queueKey, others);
    while (this.#callNext());
  }

  #callNext(): boolean {
    const isForKnown = this.#knownInRow < (this.limits.knownWeight ?? 1);
    for (const known of [isForKnown, !isForKnown]) {
      const may = (queueKey: string) => this.#mayRun({ queueKey, known });
      if (!(known ? this.#known : this.#unknown).callNext(may)) continue;
      this.#knownInRow = known ? this.#knownInRow + 1 : 0;
      return true;
    }
    return false;
  }
}
