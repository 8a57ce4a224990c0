import { FairQueue, type FairQueueLimits, type Waiter } from "../model/fair_queue.ts";
import { type Exchange, type Failure, failure } from "./exchange.ts";

/** A request that waits for its turn. */
interface Turn<T> {
  /** Whose request it is: queues take turns, so that nobody's flood delays all others. */
  readonly queueKey: string;
  /** Milliseconds it may wait. */
  readonly maxWait: number;
  readonly signal: AbortSignal;
  /** Milliseconds after which the next has its turn, though this request may go on; absent: when it is over. */
  readonly longestMs?: number;
  /**
   * Called when it is its turn, or one other is `ahead` of it, which is over when that settles. Must settle itself; the
   * next turn comes after that, or after `longestMs`.
   */
  readonly run: (ahead: Promise<void> | undefined) => Promise<Exchange<T>>;
  /** Milliseconds to wait before the next turn; asked when it is over. Default: none. */
  readonly pause?: () => number;
}

/** How many requests may wait for a daemon, and be under way. */
interface QueueLimits extends FairQueueLimits {
  /** Requests that may be under way: with 2 one is served while the other stands ready. */
  readonly underWay: () => 1 | 2;
}

/**
 * One request after the other: a daemon serves its command socket that way, and more connections than its short backlog
 * takes make it slower (daemon-protocol.md 1.5); one that stands ready there makes it quicker. Those who wait do so in
 * {@link FairQueue}.
 */
export class Queue {
  readonly #limits: QueueLimits;
  readonly #waiting: FairQueue<Waiting>;
  /** In the order of their turns; each settles when it is over. */
  readonly #underWay: Promise<void>[] = [];
  /** Requests that are not over, those included whose turn is. */
  readonly #running = new Set<Promise<void>>();
  #closed = false;

  constructor(limits: QueueLimits) {
    this.#limits = limits;
    this.#waiting = new FairQueue(limits);
  }

  /** Requests that wait. */
  get length(): number {
    return this.#waiting.size;
  }

  get idle(): boolean {
    return this.#underWay.length === 0 && this.length === 0;
  }

  /** Waits for its turn and runs. Never rejects; who leaves while waiting is `aborted`, under way it runs to its end. */
  take<T>({ queueKey, maxWait, signal, longestMs, run, pause = () => 0 }: Turn<T>): Promise<Exchange<T>> {
    if (signal.aborted) return Promise.resolve(failure("aborted", "before"));
    if (this.#closed) return Promise.resolve(failure("closing", "before"));
    return new Promise((resolve) => {
      const joined = this.#waiting.join({
        queueKey,
        maxWaitMs: maxWait,
        signal,
        called: () =>
          this.#begin(async (ahead) => {
            resolve(await run(ahead));
            await this.#rest(pause());
          }, longestMs),
        left: (why) => resolve(failure(why === "aborted" ? "aborted" : "busy", "before")),
        httpError: resolve,
      });
      if (joined) this.#next();
      else resolve(failure("busy", "before"));
    });
  }

  /** Sends all who wait away, for instance to another daemon. */
  drain(reason: Failure): void {
    for (const { httpError } of this.#waiting.clear()) httpError(reason);
  }

  /** Takes no more, and waits for the requests under way. */
  async close(): Promise<void> {
    this.#closed = true;
    this.drain(failure("closing", "before"));
    await Promise.all(this.#running);
  }

  async #rest(ms: number): Promise<void> {
    if (ms > 0 && !this.#closed) await new Promise((resolve) => setTimeout(resolve, ms));
  }

  #next(): void {
    if (this.#underWay.length < this.#limits.underWay()) this.#waiting.callNext();
  }

  #begin(run: (ahead: Promise<void> | undefined) => Promise<void>, longestMs: number | undefined): void {
    const ahead = this.#underWay.at(-1);
    const running = run(ahead).finally(() => this.#running.delete(running));
    this.#running.add(running);
    const turn = longestMs === undefined ? running : noLongerThan(running, ahead, longestMs);
    const over = turn.finally(() => {
      this.#underWay.splice(this.#underWay.indexOf(over), 1);
      this.#next();
    });
    this.#underWay.push(over);
  }
}

/** Settles with the work, or so many milliseconds after nobody is `ahead` of it any more. */
async function noLongerThan(
  work: Promise<void>,
  ahead: Promise<void> | undefined,
  longestMs: number,
): Promise<void> {
  await Promise.race([work, ahead]);
  const { promise: late, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, longestMs);
  await Promise.race([work, late]);
  clearTimeout(timer);
}

interface Waiting extends Waiter {
  readonly httpError: (reason: Failure) => void;
}
