import { realTime, type Schedule, type Stopwatch, stopwatch } from "../../model/clock.ts";
import { httpError } from "../../model/http_error.ts";

/** Session's slot in the quota. */
export interface Slot {
  readonly instance: number; // from 1
  /** Frees the slot. @param used Whether the daemon may have counted the session, so that it frees late. */
  release(used: boolean): void;
}

/** Limits of own sessions and their queue. */
export interface SessionQuotaOptions {
  readonly elapsed?: Stopwatch;
  readonly schedule?: Schedule;
  readonly limit: () => number; // per account and instance
  /** Time a daemon counts an ended session: it sweeps every 5 s (daemon-protocol.md 1.9). */
  readonly holdMs?: number;
  readonly maxWaitMs?: number;
  readonly maxWaiting?: number; // queue length per account
}

interface Waiter {
  readonly instances: readonly number[];
  readonly grant: (slot: Slot) => void;
}

/** Counts own sessions per account and daemon, and queues requests instead of exceeding the daemon's limit. */
export class SessionQuota {
  readonly #accounts = new Map<string, Account>();

  constructor(readonly options: SessionQuotaOptions) {}

  /**
   * Acquires a slot on the instance with the fewest sessions, by order of preference.
   * @throws {ERR_TOO_MANY_SESSIONS} If the queue is full or too slow; or the signal's reason.
   */
  async acquire(user: string, instances: readonly number[], signal: AbortSignal): Promise<Slot> {
    signal.throwIfAborted();
    const account = this.#accounts.get(user) ?? new Account(this.options, () => this.#accounts.delete(user));
    this.#accounts.set(user, account);
    return await account.acquire(instances, signal);
  }
}

class Account {
  /** Times at which slots become free, by instance; `Infinity` in use. */
  readonly #taken = new Map<number, { freeAt: number }[]>();
  readonly #waiting: Waiter[] = [];
  readonly #elapsed: Stopwatch;
  readonly #schedule: Schedule;
  #forgetTurn = () => {};

  constructor(readonly options: SessionQuotaOptions, readonly forget: () => void) {
    this.#elapsed = options.elapsed ?? stopwatch;
    this.#schedule = options.schedule ?? realTime;
  }

  acquire(instances: readonly number[], signal: AbortSignal): Promise<Slot> {
    const { maxWaitMs = 20_000, maxWaiting = 64 } = this.options;
    const slot = this.#waiting.length === 0 ? this.#take(instances) : undefined;
    if (slot !== undefined) return Promise.resolve(slot);
    if (this.#waiting.length >= maxWaiting) {
      return Promise.reject(httpError("ERR_TOO_MANY_SESSIONS", "queue is full"));
    }
    return new Promise((resolve, reject) => {
      const waiter: Waiter = {
        instances,
        grant: (granted) => {
          stop();
          resolve(granted);
        },
      };
      const giveUp = (reason: unknown) => {
        stop();
        this.#waiting.splice(this.#waiting.indexOf(waiter), 1);
        this.#serve();
        reject(reason);
      };
      const onAbort = () => giveUp(signal.reason);
      const forgetLate = this.#schedule(
        maxWaitMs,
        () => giveUp(httpError("ERR_TOO_MANY_SESSIONS", "no session got free in time")),
      );
      const stop = () => {
        forgetLate();
        signal.removeEventListener("abort", onAbort);
      };
      signal.addEventListener("abort", onAbort);
      this.#waiting.push(waiter);
      this.#serve();
    });
  }

  #take(instances: readonly number[]): Slot | undefined {
    const now = this.#elapsed();
    let best: { instance: number; slots: { freeAt: number }[] } | undefined;
    for (const instance of instances) {
      const slots = (this.#taken.get(instance) ?? []).filter(({ freeAt }) => freeAt > now);
      this.#taken.set(instance, slots);
      if (slots.length < this.options.limit() && slots.length < (best?.slots.length ?? Infinity)) {
        best = { instance, slots };
      }
    }
    if (best === undefined) return undefined;
    const { instance } = best;
    const slot = { freeAt: Infinity };
    best.slots.push(slot);
    return {
      instance,
      release: (used) => {
        if (slot.freeAt !== Infinity) return;
        const { holdMs = 5_500 } = this.options;
        slot.freeAt = this.#elapsed() + (used ? holdMs : 0);
        this.#serve();
      },
    };
  }

  /** Serves waiters and reschedules for the next free slot. */
  #serve(): void {
    this.#forgetTurn();
    for (let waiter = this.#waiting[0]; waiter !== undefined; waiter = this.#waiting[0]) {
      const slot = this.#take(waiter.instances);
      if (slot === undefined) break;
      this.#waiting.shift();
      waiter.grant(slot);
    }
    const now = this.#elapsed();
    const moments = [...this.#taken.values()].flat().map(({ freeAt }) => freeAt);
    const ahead = moments.filter((moment) => moment > now);
    if (ahead.length === 0 && this.#waiting.length === 0) this.forget();
    const next = Math.min(...ahead);
    if (this.#waiting.length > 0 && next !== Infinity) {
      this.#forgetTurn = this.#schedule(next - now, () => this.#serve());
    }
  }
}
