import { realTime, type Schedule, type Stopwatch, stopwatch } from "../../model/clock.ts";
import { httpError } from "../../model/http_error.ts";

/** Idle session that the next request with the same key can use. */
export interface IdleSession {
  readonly key: string; // account, scope and rights
  close(): void;
}

export interface Slot<Idle extends IdleSession = IdleSession> {
  readonly instance: number; // from 1
  readonly idle?: Idle; // session to reuse with the slot
  /** Frees the slot. @param used Whether the daemon may have counted the session, which it frees late. */
  release(used: boolean): void;
  keep(idle: Idle): void; // keeps the slot with its session for a while, or until another needs it
}

/** Limits of own sessions and their queue. */
export interface SessionQuotaOptions {
  readonly elapsed?: Stopwatch;
  readonly schedule?: Schedule;
  readonly limit: () => number; // per account and instance
  /** Time in which a daemon still counts an ended session: it sweeps every 5 s (daemon-protocol.md 1.9). */
  readonly holdMs?: number;
  readonly maxWaitMs?: number;
  readonly maxWaiting?: number; // queue length per account
}

const KEEP_MS = 5_000; // milliseconds for which to keep an idle session

interface Waiter<Idle extends IdleSession> {
  readonly instances: readonly number[];
  readonly key: string | undefined;
  readonly grant: (slot: Slot<Idle>) => void;
}

/** Counts own sessions per account and daemon, and queues requests instead of exceeding the daemon's limit. */
export class SessionQuota<Idle extends IdleSession = IdleSession> {
  readonly #accounts = new Map<string, Account<Idle>>();

  constructor(readonly options: SessionQuotaOptions) {}

  /**
   * Acquires a slot on the instance with the fewest sessions, by order of preference.
   * @param key An idle session with this key is preferred.
   * @throws {ERR_TOO_MANY_SESSIONS} If the queue is full or too slow; or the signal's reason.
   */
  async acquire(
    user: string,
    instances: readonly number[],
    signal: AbortSignal,
    key?: string,
  ): Promise<Slot<Idle>> {
    signal.throwIfAborted();
    const made = () => new Account<Idle>(this.options, () => this.#accounts.delete(user));
    return await this.#accounts.getOrInsertComputed(user, made).acquire(instances, signal, key);
  }

  close(): void {
    for (const account of [...this.#accounts.values()]) account.closeIdle();
  }
}

interface Taken<Idle> {
  freeAt: number; // time at which the slot becomes free; `Infinity` in use
  idle?: { readonly session: Idle; readonly forget: () => void } | undefined;
}

class Account<Idle extends IdleSession> {
  readonly #taken = new Map<number, Taken<Idle>[]>(); // by instance
  readonly #waiting: Waiter<Idle>[] = [];
  readonly #elapsed: Stopwatch;
  readonly #schedule: Schedule;
  #forgetTurn = () => {};

  constructor(readonly options: SessionQuotaOptions, readonly forget: () => void) {
    this.#elapsed = options.elapsed ?? stopwatch;
    this.#schedule = options.schedule ?? realTime;
  }

  acquire(instances: readonly number[], signal: AbortSignal, key: string | undefined): Promise<Slot<Idle>> {
    const { maxWaitMs = 20_000, maxWaiting = 64 } = this.options;
    if (this.#waiting.length > 0) this.#serve();
    const slot = this.#take(instances, key);
    if (slot !== undefined) return Promise.resolve(slot);
    if (this.#waiting.length >= maxWaiting) {
      return Promise.reject(httpError("ERR_TOO_MANY_SESSIONS", "queue is full"));
    }
    return new Promise((resolve, reject) => {
      const waiter: Waiter<Idle> = {
        instances,
        key,
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
      const late = () => giveUp(httpError("ERR_TOO_MANY_SESSIONS", "no session became free in time"));
      const forgetLate = this.#schedule(maxWaitMs, late);
      const stop = () => {
        forgetLate();
        signal.removeEventListener("abort", onAbort);
      };
      signal.addEventListener("abort", onAbort);
      this.#waiting.push(waiter);
      this.#serve();
    });
  }

  closeIdle(): void {
    for (const slot of [...this.#taken.values()].flat()) this.#end(slot);
  }

  #take(instances: readonly number[], key: string | undefined): Slot<Idle> | undefined {
    const now = this.#elapsed();
    let best: { instance: number; slots: Taken<Idle>[] } | undefined;
    const others: Taken<Idle>[] = [];
    for (const instance of instances) {
      const slots = (this.#taken.get(instance) ?? []).filter(({ freeAt }) => freeAt > now);
      this.#taken.set(instance, slots);
      const kept = slots.find(({ idle }) => idle !== undefined && idle.session.key === key);
      if (kept?.idle !== undefined) {
        const { session, forget } = kept.idle;
        forget();
        kept.idle = undefined;
        return this.#slot(instance, kept, session);
      }
      if (slots.length < this.options.limit() && slots.length < (best?.slots.length ?? Infinity)) {
        best = { instance, slots };
      }
      others.push(...slots);
    }
    if (best === undefined) {
      // Closes an idle session with other rights to free a slot, unless one becomes free anyway.
      const idle = others.find(({ idle }) => idle !== undefined);
      if (idle !== undefined && others.every(({ freeAt }) => freeAt === Infinity)) this.#end(idle);
      return undefined;
    }
    const slot = { freeAt: Infinity };
    best.slots.push(slot);
    return this.#slot(best.instance, slot);
  }

  #slot(instance: number, taken: Taken<Idle>, idle?: Idle): Slot<Idle> {
    let over = false;
    return {
      instance,
      idle,
      release: (used) => {
        if (over) return;
        over = true;
        this.#free(taken, used);
        this.#serve();
      },
      keep: (session) => {
        over = true;
        taken.idle = { session, forget: this.#schedule(KEEP_MS, () => this.#end(taken)) };
        this.#serve();
      },
    };
  }

  #free(taken: Taken<Idle>, used: boolean): void {
    taken.freeAt = this.#elapsed() + (used ? this.options.holdMs ?? 5_500 : 0);
  }

  #end(taken: Taken<Idle>): void {
    if (taken.idle === undefined) return;
    const { session, forget } = taken.idle;
    taken.idle = undefined;
    forget();
    session.close();
    this.#free(taken, true);
    this.#serve();
  }

  /** Serves waiters in order, except those whose instances are full, and reschedules for the next free slot. */
  #serve(): void {
    this.#forgetTurn();
    for (let i = 0, waiter = this.#waiting[0]; waiter !== undefined; waiter = this.#waiting[i]) {
      const slot = this.#take(waiter.instances, waiter.key);
      if (slot === undefined) i++;
      else this.#waiting.splice(i, 1)[0]?.grant(slot);
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
