import { within } from "../model/clock.ts";
import { FairQueue, type FairQueueLimits, type Waiter } from "../model/fair_queue.ts";
import { type Exchange, type Failure, failure } from "./exchange.ts";

interface Turn<T> {
  readonly queueKey: string;
  readonly maxWait: number; // milliseconds
  readonly signal: AbortSignal;
  /** Milliseconds after which the next turn begins, even if this request is still running. */
  readonly maxTurnMs?: number;
  /** Called at its turn, or with `previous` while the previous request runs. Must settle. */
  readonly run: (previous: Promise<void> | undefined) => Promise<Exchange<T>>;
  readonly pause?: () => number; // milliseconds before the next turn. Default: 0
}

interface QueueLimits extends FairQueueLimits {
  readonly concurrency: () => 1 | 2; // most concurrent requests: with 2, one waits in the daemon's backlog
}

/** Serialises requests: a daemon serves one at a time; one in its backlog speeds it up, more slow it down (1.5). */
export class Queue {
  readonly #waiting: FairQueue<Waiter & { readonly refused: (reason: Failure) => void }>;
  readonly #turns: Promise<void>[] = []; // running turns in order
  readonly #running = new Set<Promise<void>>(); // unfinished requests
  #closed = false;

  constructor(readonly limits: QueueLimits) {
    this.#waiting = new FairQueue(limits);
  }

  get length(): number {
    return this.#waiting.size;
  }

  get idle(): boolean {
    return this.#turns.length === 0 && this.length === 0;
  }

  /** Waits for a turn and runs. Never rejects; an abort ends only the wait. */
  take<T>({ queueKey, maxWait, signal, maxTurnMs, run, pause = () => 0 }: Turn<T>): Promise<Exchange<T>> {
    if (signal.aborted) return Promise.resolve(failure("aborted", "before"));
    if (this.#closed) return Promise.resolve(failure("closing", "before"));
    return new Promise((resolve) => {
      const joined = this.#waiting.join({
        queueKey,
        maxWaitMs: maxWait,
        signal,
        called: () =>
          this.#begin(async (previous) => {
            resolve(await run(previous));
            const ms = pause();
            if (ms > 0 && !this.#closed) await new Promise((resolve) => setTimeout(resolve, ms));
          }, maxTurnMs),
        left: (why) => resolve(failure(why === "aborted" ? "aborted" : "busy", "before")),
        refused: resolve,
      });
      if (joined) this.#next();
      else resolve(failure("busy", "before"));
    });
  }

  drain(reason: Failure): void {
    for (const { refused } of this.#waiting.clear()) refused(reason);
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.drain(failure("closing", "before"));
    await Promise.all(this.#running);
  }

  #next(): void {
    if (this.#turns.length < this.limits.concurrency()) this.#waiting.callNext();
  }

  #begin(run: (previous: Promise<void> | undefined) => Promise<void>, maxTurnMs: number | undefined): void {
    const previous = this.#turns.at(-1);
    const running = run(previous).finally(() => this.#running.delete(running));
    this.#running.add(running);
    const turn = maxTurnMs === undefined ? running : noLongerThan(running, previous, maxTurnMs);
    const over = turn.finally(() => {
      this.#turns.splice(this.#turns.indexOf(over), 1);
      this.#next();
    });
    this.#turns.push(over);
  }
}

/** Settles with the work, at the latest `maxTurnMs` after the `previous` request. */
async function noLongerThan(
  work: Promise<void>,
  previous: Promise<void> | undefined,
  maxTurnMs: number,
): Promise<void> {
  await Promise.race([work, previous]);
  await within(work, maxTurnMs);
}

/** Connections that a daemon accepts: the one it serves and its backlog (daemon-protocol.md 1.5). It drops more. */
const MAX_CONNECTIONS = 4;

const DRIFT = 1.02; // decay factor of the fastest exchange, since a daemon may have become slower

/**
 * Limits the commands of several instances to one daemon: together they open no more connections than its backlog. With
 * more instances than places, each pauses between commands while its exchanges show a full backlog.
 */
export class BacklogShare {
  #quickestMs = Infinity;

  constructor(readonly instances: () => number) {}

  /** Returns the allowed concurrent commands. @param ready Whether a second one may wait in the backlog. */
  concurrency(ready: boolean): 1 | 2 {
    return ready && 2 * this.instances() <= MAX_CONNECTIONS ? 2 : 1;
  }

  pauseAfter(exchangeMs: number): number {
    this.#quickestMs = Math.min(exchangeMs, this.#quickestMs * DRIFT);
    const tooMany = this.instances() - MAX_CONNECTIONS;
    const taken = exchangeMs / Math.max(this.#quickestMs, 0.1);
    return tooMany <= 0 || taken < MAX_CONNECTIONS - 1 ? 0 : tooMany * this.#quickestMs;
  }
}
