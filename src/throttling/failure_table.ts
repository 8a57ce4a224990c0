import type { Stopwatch } from "../model/clock.ts";
import { FairQueue, type FairQueueLimits, type Waiter } from "../model/fair_queue.ts";

/** Growth of waits. */
export interface WaitPolicy {
  readonly free: number; // failures without a wait
  /** Milliseconds after the first failure that is not free; doubles with each further failure. */
  readonly baseMs: number;
  readonly maxMs: number;
  readonly windowMs: number; // milliseconds after the last failure and its wait until both are forgotten
  readonly maxInFlight: number; // concurrent plus failed attempts while failures are free; afterwards 1
}

export interface FailureRecord<S> {
  readonly subject: S;
  readonly failures: number;
  readonly at: number; // last failure, in milliseconds above 0 by the table's clock
  readonly until: number; // end of the wait; 0 if there never was a wait
}

interface State {
  readonly waitMs: number; // milliseconds until the next attempt; 0: now
  readonly full: boolean; // whether too many attempts are running
}

const READY: State = { waitMs: 0, full: false };
const FULL: State = { waitMs: 0, full: true };

/** Waiters for the end of attempts under one key. */
const QUEUE_LIMITS: FairQueueLimits = { waiting: 2000, perKey: 1000 };

/** Bounded table of failures; evicts the record idle longest, one with a running wait last. */
export class FailureTable<S> {
  /** Records without a running wait, longest idle first. */
  readonly #watched = new Map<string, FailureRecord<S>>();
  readonly #waiting = new Map<string, FailureRecord<S>>(); // records whose wait was running when last checked
  readonly #inFlight = new Map<string, number>(); // running attempts by key
  readonly #queues = new Map<string, FairQueue>();
  /** Same object for all records of a key since it was last forgotten. */
  readonly #series = new WeakMap<FailureRecord<S>, object>();

  constructor(
    readonly options: {
      readonly policy: WaitPolicy;
      readonly capacity: number;
      readonly elapsed: Stopwatch;
      readonly extraFree?: (key: string) => number; // further failures without a wait. Default: 0
      readonly clusterMembers?: () => number; // tables that count together and divide concurrent attempts. Default: 1
    },
  ) {}

  failuresOf(key: string): number {
    return this.#recordOf(key)?.failures ?? 0;
  }

  /** Reports whether a record is still valid: the key has not been forgotten since. */
  counts(key: string, record: FailureRecord<S>): boolean {
    const now = this.#recordOf(key);
    return now !== undefined && this.#series.get(now) === this.#series.get(record);
  }

  /** Returns the wait after so many failures of a key, in milliseconds. */
  waitAfter(key: string, failures: number): number {
    const { free, baseMs, maxMs } = this.#policyOf(key);
    const beyond = failures - free;
    return beyond > 0 ? Math.min(baseMs * 2 ** (beyond - 1), maxMs) : 0;
  }

  get size(): number {
    return this.#watched.size + this.#waiting.size;
  }

  state(key: string): State {
    const record = this.#recordOf(key);
    const waitMs = record === undefined ? 0 : record.until - this.options.elapsed();
    if (waitMs > 0) return { waitMs, full: false };
    return (this.#inFlight.get(key) ?? 0) < this.#inFlightLimit(key, record?.failures ?? 0) ? READY : FULL;
  }

  /** Divides concurrent attempts, and remaining free failures, among members, which learn of each other's too late. */
  #inFlightLimit(key: string, failures: number): number {
    const { free, maxInFlight } = this.#policyOf(key);
    if (failures >= free) return 1;
    const clusterMembers = this.options.clusterMembers?.() ?? 1;
    const most = Math.floor(maxInFlight / clusterMembers) - failures;
    const left = clusterMembers > 1 && failures > 0 ? Math.floor((free - failures) / clusterMembers) : most;
    return Math.max(1, Math.min(most, left));
  }

  /** Queues a waiter for the end of an attempt. Returns whether there was room. */
  queue(key: string, waiter: Waiter): boolean {
    const queue = this.#queues.getOrInsertComputed(key, () => new FairQueue(QUEUE_LIMITS));
    return queue.join({
      ...waiter,
      left: (why) => {
        if (queue.size === 0) this.#queues.delete(key);
        waiter.left(why);
      },
    });
  }

  /** Begins an attempt, which {@link leave} must end. */
  enter(key: string): void {
    this.#inFlight.set(key, (this.#inFlight.get(key) ?? 0) + 1);
  }

  leave(key: string): void {
    const others = (this.#inFlight.get(key) ?? 1) - 1;
    if (others === 0) this.#inFlight.delete(key);
    else this.#inFlight.set(key, others);
    // Call each waiter once: it may queue again meanwhile.
    const queue = this.#queues.get(key);
    if (queue === undefined) return;
    for (let most = queue.size; most > 0 && !this.state(key).full; most--) queue.callNext();
    if (queue.size === 0) this.#queues.delete(key);
  }

  fail(key: string, subject: S): FailureRecord<S> {
    const before = this.#recordOf(key);
    return this.#continue(key, before, this.#next(key, before, subject));
  }

  /** Sets the common count of a key, without shortening a running wait. */
  setTotal(key: string, subject: S, failures: number): FailureRecord<S> {
    const before = this.#recordOf(key);
    const known = { until: before?.until ?? 0, failures: failures - 1 };
    return this.#continue(key, before, this.#next(key, known, subject));
  }

  forget(key: string): boolean {
    return this.#watched.delete(key) || this.#waiting.delete(key);
  }

  forgetBefore(key: string, moment: number): boolean {
    const record = this.#recordOf(key);
    return record !== undefined && record.at < moment && this.forget(key);
  }

  forgetWhere(matches: (subject: S) => boolean): number {
    let forgotten = 0;
    for (const records of [this.#watched, this.#waiting]) {
      for (const [key, { subject }] of records) {
        if (matches(subject) && records.delete(key)) forgotten++;
      }
    }
    return forgotten;
  }

  /** Returns up to `most` valid records with keys: running waits first, then the latest failures. */
  entries(most: number): [string, FailureRecord<S>][] {
    const all = [...this.#waiting, ...[...this.#watched].reverse()];
    return all.filter(([, record]) => !this.#isForgotten(record)).slice(0, most);
  }

  /** Merges records of another table; per key the graver one stays. */
  adopt(entries: readonly (readonly [string, FailureRecord<S>])[]): void {
    // Later insertions are evicted later.
    for (const [key, record] of [...entries].reverse()) {
      const own = this.#recordOf(key);
      if (this.#isForgotten(record)) continue;
      this.#put(key, own === undefined ? record : graver(own, record));
    }
  }

  waiting(most = Infinity): FailureRecord<S>[] {
    const now = this.options.elapsed();
    return this.#waiting.values().filter(({ until }) => until > now).take(most).toArray();
  }

  get waitingCount(): number {
    const now = this.options.elapsed();
    return this.#waiting.values().reduce((count, { until }) => count + Number(until > now), 0);
  }

  #policyOf(key: string): WaitPolicy {
    const { policy, extraFree } = this.options;
    const more = extraFree?.(key) ?? 0;
    return more === 0 ? policy : { ...policy, free: policy.free + more };
  }

  #next(
    key: string,
    before: Pick<FailureRecord<S>, "failures" | "until"> | undefined,
    subject: S,
  ): FailureRecord<S> {
    const now = this.options.elapsed();
    const failures = (before?.failures ?? 0) + 1;
    const wait = this.waitAfter(key, failures);
    const until = wait > 0 ? Math.max(now + wait, before?.until ?? 0) : 0;
    return { subject, failures, at: now, until };
  }

  /** Returns a key's valid record, moved to its current list. */
  #recordOf(key: string): FailureRecord<S> | undefined {
    const record = this.#waiting.get(key) ?? this.#watched.get(key);
    if (record === undefined) return undefined;
    if (this.#isForgotten(record)) {
      this.forget(key);
      return undefined;
    }
    if (record.until <= this.options.elapsed() && this.#waiting.has(key)) this.#put(key, record);
    return record;
  }

  #continue(key: string, before: FailureRecord<S> | undefined, record: FailureRecord<S>): FailureRecord<S> {
    this.#series.set(record, (before && this.#series.get(before)) ?? {});
    this.#put(key, record);
    return record;
  }

  #put(key: string, record: FailureRecord<S>): void {
    this.forget(key);
    if (this.size >= this.options.capacity) {
      const [oldest] = this.#watched.size > 0 ? this.#watched.keys() : this.#waiting.keys();
      if (oldest !== undefined) this.forget(oldest);
    }
    (record.until > this.options.elapsed() ? this.#waiting : this.#watched).set(key, record);
  }

  #isForgotten({ at, until }: FailureRecord<unknown>): boolean {
    return Math.max(at, until) + this.options.policy.windowMs <= this.options.elapsed();
  }
}

function graver<S>(one: FailureRecord<S>, other: FailureRecord<S>): FailureRecord<S> {
  return {
    subject: one.subject,
    failures: Math.max(one.failures, other.failures),
    at: Math.max(one.at, other.at),
    until: Math.max(one.until, other.until),
  };
}
