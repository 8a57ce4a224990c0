/** How many may wait. */
export interface FairQueueLimits {
  /** In all queues together. */
  readonly waiting: number;
  readonly perKey: number;
}

/** Why somebody leaves without having been called: patience or signal are over, or a shorter queue key needed the room. */
type Leaving = "late" | "aborted" | "displaced";

/** Somebody who waits. Exactly one of `called` and `left` is called, once. */
export interface Waiter {
  readonly queueKey: string;
  /** Longest time to wait, in milliseconds; without it, for ever. */
  readonly maxWaitMs?: number;
  /** Gives up when it is aborted; it must not be so yet. */
  readonly signal?: AbortSignal;
  called(): void;
  left(why: Leaving): void;
}

/**
 * Bounded waiting: queues take turns, in each it is first come, first served. So whoever crowds one queue key delays the others
 * by one turn each round. Where all room is taken, one who comes to a short queue key takes the place of the last in the longest.
 */
export class FairQueue<W extends Waiter = Waiter> {
  /** In the order in which they are served; none is empty. Each waiter with what ends its waiting. */
  readonly #queues = new Map<string, Map<W, () => void>>();
  #size = 0;

  constructor(readonly limits: FairQueueLimits) {}

  /** How many wait. */
  get size(): number {
    return this.#size;
  }

  /** @returns Whether there was room; without, nothing is called. */
  join(waiter: W): boolean {
    const { queueKey: name, maxWaitMs, signal } = waiter;
    const length = this.#queues.get(name)?.size ?? 0;
    if (length >= this.limits.perKey) return false;
    if (this.#size >= this.limits.waiting && !this.#displaceFor(length)) return false;
    const abort = () => this.#leave(waiter, "aborted");
    const late = maxWaitMs === undefined
      ? undefined
      : setTimeout(() => this.#leave(waiter, "late"), Math.max(0, maxWaitMs));
    signal?.addEventListener("abort", abort, { once: true });
    const queueKey = this.#queues.get(name) ?? new Map<W, () => void>();
    this.#queues.set(name, queueKey);
    queueKey.set(waiter, () => {
      clearTimeout(late);
      signal?.removeEventListener("abort", abort);
    });
    this.#size++;
    return true;
  }

  /**
   * Calls the one whose turn it is.
   * @param may Which queues may have a turn now; all of them without it.
   * @returns Whether there was one.
   */
  callNext(may: (queueKey: string) => boolean = () => true): boolean {
    for (const [name, queueKey] of this.#queues) {
      const [next] = queueKey.keys();
      if (next === undefined || !may(name)) continue;
      this.#remove(next);
      if (this.#queues.delete(name)) this.#queues.set(name, queueKey); // the last one in turn from now on
      next.called();
      return true;
    }
    return false;
  }

  /** All who wait, in the order of their turns; they wait no longer, and nothing of them is called. */
  clear(): W[] {
    const all: W[] = [];
    for (;;) {
      const found = all.length;
      for (const queueKey of [...this.#queues.values()]) {
        const [next] = queueKey.keys();
        if (next === undefined) continue;
        this.#remove(next);
        all.push(next);
      }
      if (all.length === found) return all;
    }
  }

  #leave(waiter: W, why: Leaving): void {
    this.#remove(waiter);
    waiter.left(why);
  }

  #remove(waiter: W): void {
    const queueKey = this.#queues.get(waiter.queueKey);
    queueKey?.get(waiter)?.();
    if (queueKey?.delete(waiter)) this.#size--;
    if (queueKey?.size === 0) this.#queues.delete(waiter.queueKey);
  }

  /** Makes room at the end of the longest queue key, for one that stays shorter with another in it. */
  #displaceFor(length: number): boolean {
    let longest: Map<W, unknown> | undefined;
    for (const queueKey of this.#queues.values()) {
      if (queueKey.size > (longest?.size ?? length + 1)) longest = queueKey;
    }
    const last = longest && [...longest.keys()].at(-1);
    if (last === undefined) return false;
    this.#leave(last, "displaced");
    return true;
  }
}
