export interface FairQueueLimits {
  readonly waiting: number; // in all queues together
  readonly perKey: number;
}

/** Reason why a waiter leaves uncalled: timeout, abort, or displacement by a waiter with a shorter queue. */
type Leaving = "late" | "aborted" | "displaced";

/** Waiter in a queue. Exactly one of `called` and `left` is called, once. */
export interface Waiter {
  readonly queueKey: string;
  readonly maxWaitMs?: number; // milliseconds; absent: no limit
  readonly signal?: AbortSignal; // must not be aborted yet
  called(): void;
  left(why: Leaving): void;
}

/** Bounded round-robin queues: a key delays others by one turn. If full, the longest queue's last is displaced. */
export class FairQueue<W extends Waiter = Waiter> {
  /** Non-empty queues in order of service; each waiter with its cleanup. */
  readonly #queues = new Map<string, Map<W, () => void>>();
  #size = 0;

  constructor(readonly limits: FairQueueLimits) {}

  get size(): number {
    return this.#size;
  }

  /** Adds a waiter. Returns false, without calling it, if there is no room. */
  join(waiter: W): boolean {
    const { queueKey, maxWaitMs, signal } = waiter;
    const length = this.#queues.get(queueKey)?.size ?? 0;
    if (length >= this.limits.perKey) return false;
    if (this.#size >= this.limits.waiting && !this.#displaceFor(length)) return false;
    const abort = () => this.#leave(waiter, "aborted");
    const late = maxWaitMs === undefined
      ? undefined
      : setTimeout(() => this.#leave(waiter, "late"), Math.max(0, maxWaitMs));
    signal?.addEventListener("abort", abort, { once: true });
    this.#queues.getOrInsertComputed(queueKey, () => new Map<W, () => void>()).set(waiter, () => {
      clearTimeout(late);
      signal?.removeEventListener("abort", abort);
    });
    this.#size++;
    return true;
  }

  /** Calls the next waiter of the queues that `may` admits. Returns false if there is none. */
  callNext(may: (queueKey: string) => boolean = () => true): boolean {
    for (const [queueKey, queue] of this.#queues) {
      const [next] = queue.keys();
      if (next === undefined || !may(queueKey)) continue;
      this.#remove(next);
      if (this.#queues.delete(queueKey)) this.#queues.set(queueKey, queue); // moves the queue to the end
      next.called();
      return true;
    }
    return false;
  }

  /** Removes and returns all waiters, without calling them. */
  clear(): W[] {
    const all = [...this.#queues.values()].flatMap((queue) => [...queue.keys()]);
    for (const waiter of all) this.#remove(waiter);
    return all;
  }

  #leave(waiter: W, why: Leaving): void {
    this.#remove(waiter);
    waiter.left(why);
  }

  #remove(waiter: W): void {
    const queue = this.#queues.get(waiter.queueKey);
    queue?.get(waiter)?.();
    if (queue?.delete(waiter)) this.#size--;
    if (queue?.size === 0) this.#queues.delete(waiter.queueKey);
  }

  /** Displaces the last waiter of the longest queue, if the new one's queue stays shorter. */
  #displaceFor(length: number): boolean {
    let longest: Map<W, unknown> | undefined;
    for (const queue of this.#queues.values()) {
      if (queue.size > (longest?.size ?? length + 1)) longest = queue;
    }
    const last = longest && [...longest.keys()].at(-1);
    if (last === undefined) return false;
    this.#leave(last, "displaced");
    return true;
  }
}
