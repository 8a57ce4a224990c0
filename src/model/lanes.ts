/** How many may wait. */
export interface LaneLimits {
  /** In all lanes together. */
  readonly waiting: number;
  readonly perLane: number;
}

/** Why somebody leaves without having been called: patience or signal are over, or a shorter lane needed the room. */
type Leaving = "late" | "aborted" | "displaced";

/** Somebody who waits. Exactly one of `called` and `left` is called, once. */
export interface Waiter {
  readonly lane: string;
  /** Longest time to wait, in milliseconds; without it, for ever. */
  readonly maxWaitMs?: number;
  /** Gives up when it is aborted; it must not be so yet. */
  readonly signal?: AbortSignal;
  called(): void;
  left(why: Leaving): void;
}

/**
 * Bounded waiting: lanes take turns, in each it is first come, first served. So whoever crowds one lane delays the others
 * by one turn each round. Where all room is taken, one who comes to a short lane takes the place of the last in the longest.
 */
export class Lanes<W extends Waiter = Waiter> {
  /** In the order in which they are served; none is empty. Each waiter with what ends its waiting. */
  readonly #lanes = new Map<string, Map<W, () => void>>();
  #size = 0;

  constructor(readonly limits: LaneLimits) {}

  /** How many wait. */
  get size(): number {
    return this.#size;
  }

  /** @returns Whether there was room; without, nothing is called. */
  join(waiter: W): boolean {
    const { lane: name, maxWaitMs, signal } = waiter;
    const length = this.#lanes.get(name)?.size ?? 0;
    if (length >= this.limits.perLane) return false;
    if (this.#size >= this.limits.waiting && !this.#displaceFor(length)) return false;
    const abort = () => this.#leave(waiter, "aborted");
    const late = maxWaitMs === undefined
      ? undefined
      : setTimeout(() => this.#leave(waiter, "late"), Math.max(0, maxWaitMs));
    signal?.addEventListener("abort", abort, { once: true });
    const lane = this.#lanes.get(name) ?? new Map<W, () => void>();
    this.#lanes.set(name, lane);
    lane.set(waiter, () => {
      clearTimeout(late);
      signal?.removeEventListener("abort", abort);
    });
    this.#size++;
    return true;
  }

  /**
   * Calls the one whose turn it is.
   * @param may Which lanes may have a turn now; all of them without it.
   * @returns Whether there was one.
   */
  callNext(may: (lane: string) => boolean = () => true): boolean {
    for (const [name, lane] of this.#lanes) {
      const [next] = lane.keys();
      if (next === undefined || !may(name)) continue;
      this.#remove(next);
      if (this.#lanes.delete(name)) this.#lanes.set(name, lane); // the last one in turn from now on
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
      for (const lane of [...this.#lanes.values()]) {
        const [next] = lane.keys();
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
    const lane = this.#lanes.get(waiter.lane);
    lane?.get(waiter)?.();
    if (lane?.delete(waiter)) this.#size--;
    if (lane?.size === 0) this.#lanes.delete(waiter.lane);
  }

  /** Makes room at the end of the longest lane, for one that stays shorter with another in it. */
  #displaceFor(length: number): boolean {
    let longest: Map<W, unknown> | undefined;
    for (const lane of this.#lanes.values()) {
      if (lane.size > (longest?.size ?? length + 1)) longest = lane;
    }
    const last = longest && [...longest.keys()].at(-1);
    if (last === undefined) return false;
    this.#leave(last, "displaced");
    return true;
  }
}
