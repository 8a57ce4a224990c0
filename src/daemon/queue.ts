import { type Exchange, type Failure, failure } from "./exchange.ts";

/** A request that waits for its turn. */
export interface Turn<T> {
  /** Whose request it is: lanes take turns, so that nobody's flood delays all others. */
  readonly lane: string;
  /** Milliseconds it may wait. */
  readonly patience: number;
  readonly signal: AbortSignal;
  /**
   * Called when it is its turn, or one other is `ahead` of it, which is over when that settles. Must settle itself; the
   * next turn comes after that.
   */
  readonly run: (ahead: Promise<void> | undefined) => Promise<Exchange<T>>;
}

export interface QueueLimits {
  /** Requests that may be under way: with 2 one is served while the other stands ready. */
  readonly underWay: 1 | 2;
  /** Requests that may wait, not counting those under way. */
  readonly capacity: number;
  /** Requests of one lane that may wait. */
  readonly perLane: number;
}

/**
 * One request after the other: a daemon serves its command socket that way, and more connections than its short backlog
 * takes make it slower (daemon-protocol.md 1.5); one that stands ready there makes it quicker. Lanes are served in turn,
 * each first come, first served.
 */
export class Queue {
  /** In the order in which the lanes are served; none is empty. */
  readonly #lanes = new Map<string, Waiting[]>();
  #length = 0;
  /** In the order of their turns; each settles when it is over. */
  readonly #underWay: Promise<void>[] = [];
  #closed = false;

  constructor(readonly limits: QueueLimits) {}

  /** Requests that wait. */
  get length(): number {
    return this.#length;
  }

  get idle(): boolean {
    return this.#underWay.length === 0 && this.#length === 0;
  }

  /** Waits for its turn and runs. Never rejects; who leaves while waiting is `aborted`, under way it runs to its end. */
  take<T>(turn: Turn<T>): Promise<Exchange<T>> {
    if (turn.signal.aborted) return Promise.resolve(failure("aborted", "before"));
    if (this.#closed) return Promise.resolve(failure("closing", "before"));
    const lane = this.#lanes.get(turn.lane);
    if (this.#length >= this.limits.capacity || (lane?.length ?? 0) >= this.limits.perLane) {
      return Promise.resolve(failure("busy", "before"));
    }
    return new Promise((resolve) => {
      const waiting: Waiting = {
        lane: turn.lane,
        start: async (ahead) => {
          settle();
          resolve(await turn.run(ahead));
        },
        refuse: (reason) => {
          settle();
          resolve(reason);
        },
      };
      const leave = (reason: Failure) => {
        this.#remove(waiting);
        waiting.refuse(reason);
      };
      const onAbort = () => leave(failure("aborted", "before"));
      const timer = setTimeout(() => leave(failure("busy", "before")), turn.patience);
      const settle = () => {
        clearTimeout(timer);
        turn.signal.removeEventListener("abort", onAbort);
      };
      turn.signal.addEventListener("abort", onAbort);
      if (lane === undefined) this.#lanes.set(turn.lane, [waiting]);
      else lane.push(waiting);
      this.#length++;
      this.#next();
    });
  }

  /** Sends all who wait away, for instance to another daemon. */
  drain(reason: Failure): void {
    const waiting = [...this.#lanes.values()].flat();
    this.#lanes.clear();
    this.#length = 0;
    for (const { refuse } of waiting) refuse(reason);
  }

  /** Takes no more, and waits for the requests under way. */
  async close(): Promise<void> {
    this.#closed = true;
    this.drain(failure("closing", "before"));
    await Promise.all(this.#underWay);
  }

  #next(): void {
    if (this.#underWay.length >= this.limits.underWay) return;
    const [entry] = this.#lanes;
    if (entry === undefined) return;
    const [name, lane] = entry;
    const waiting = lane.shift();
    this.#lanes.delete(name);
    if (lane.length > 0) this.#lanes.set(name, lane);
    if (waiting === undefined) return;
    this.#length--;
    const over = waiting.start(this.#underWay.at(-1)).finally(() => {
      this.#underWay.splice(this.#underWay.indexOf(over), 1);
      this.#next();
    });
    this.#underWay.push(over);
  }

  #remove(waiting: Waiting): void {
    const lane = this.#lanes.get(waiting.lane);
    const index = lane?.indexOf(waiting) ?? -1;
    if (lane === undefined || index < 0) return;
    lane.splice(index, 1);
    if (lane.length === 0) this.#lanes.delete(waiting.lane);
    this.#length--;
  }
}

interface Waiting {
  readonly lane: string;
  readonly start: (ahead: Promise<void> | undefined) => Promise<void>;
  readonly refuse: (reason: Failure) => void;
}
