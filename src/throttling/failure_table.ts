import { hash } from "node:crypto";
import type { Stopwatch } from "../model/clock.ts";
import { FairQueue, type FairQueueLimits, type Waiter } from "../model/fair_queue.ts";

/** How waits grow. */
export interface WaitPolicy {
  /** Failures that cost nothing. */
  readonly free: number;
  /** Milliseconds to wait after the first failure that is not free; it doubles with each further one. */
  readonly baseMs: number;
  readonly maxMs: number;
  /** Milliseconds after the last failure, and after the wait for it, when all is forgotten. */
  readonly windowMs: number;
  /** Attempts that may be under way at once or have failed while failures are still free; after that it is one. */
  readonly underWay: number;
}

/** Failures of one subject: a user, an address, or both together. */
export interface FailureRecord<S> {
  readonly subject: S;
  readonly failures: number;
  /** Moment of the last failure, in milliseconds above 0 as the table's clock counts. */
  readonly at: number;
  /** No further attempt before this moment; 0 if there was never a wait. */
  readonly until: number;
}

/** How somebody stands who wants to make an attempt. */
interface State {
  /** Milliseconds until the next attempt; 0 is now. */
  readonly waitMs: number;
  /** Whether as many attempts are under way as may be. */
  readonly full: boolean;
}

const READY: State = { waitMs: 0, full: false };
const FULL: State = { waitMs: 0, full: true };

/** Records that subjects share for which there is no room. */
const SHARED_RECORDS = 1024;

/** Those who wait for attempts under one key to end. */
const QUEUE_LIMITS: FairQueueLimits = { waiting: 2000, perKey: 1000 };

/** Longest wait that subjects share, in milliseconds: it hits the innocent too. */
const SHARED_MAX_MS = 10_000;

/**
 * Failures by key, in bounded space. Room for a new key is made at the expense of the record that was idle longest and
 * has no wait running. A running wait is never given up: if the table holds nothing else, further keys share a fixed
 * number of records, spread over them by a keyed hash that nobody can aim with. So whoever fails under ever new names
 * frees nobody's wait, and gets no free guesses by it.
 */
export class FailureTable<S> {
  readonly #policy: WaitPolicy;
  readonly #capacity: number;
  readonly #elapsed: Stopwatch;
  readonly #extraFree: (key: string) => number;
  readonly #clusterMembers: () => number;
  /** Records without a running wait, the one idle longest first. */
  readonly #watched = new Map<string, FailureRecord<S>>();
  /** Records whose wait was running when last looked at. */
  readonly #waiting = new Map<string, FailureRecord<S>>();
  /** Numbers of attempts under way; what they will turn out to be is not counted yet. */
  readonly #underWay = new Map<string, number>();
  /** Those who wait for an attempt to end. */
  readonly #queues = new Map<string, FairQueue>();
  /** The same object for all records of a key since it was forgotten last. */
  readonly #series = new WeakMap<FailureRecord<S>, object>();
  readonly #shared = new Map<number, FailureRecord<undefined>>();
  readonly #sharedKey = crypto.getRandomValues(new Uint8Array(16)).toHex();

  /**
   * @param options.extraFree Failures that are free under a key besides those of the policy.
   * @param options.clusterMembers How many tables count together, this one included: attempts under way are shared out.
   */
  constructor({ policy, capacity, elapsed, extraFree = () => 0, clusterMembers = () => 1 }: {
    policy: WaitPolicy;
    capacity: number;
    elapsed: Stopwatch;
    extraFree?: (key: string) => number;
    clusterMembers?: () => number;
  }) {
    this.#policy = policy;
    this.#extraFree = extraFree;
    this.#clusterMembers = clusterMembers;
    this.#capacity = capacity;
    this.#elapsed = elapsed;
  }

  /** Milliseconds after which failures are forgotten, and the wait for them. */
  get windowMs(): number {
    return this.#policy.windowMs;
  }

  /** How many failures are known of a key; 0 if what there were is forgotten. */
  failuresOf(key: string): number {
    return this.#recordOf(key)?.failures ?? 0;
  }

  /** Reports whether the failures of a record still count: the key was not forgotten since. */
  counts(key: string, record: FailureRecord<S>): boolean {
    const now = this.#recordOf(key);
    return now !== undefined && this.#series.get(now) === this.#series.get(record);
  }

  /** Milliseconds to wait after so many failures under a key. */
  waitAfter(key: string, failures: number): number {
    return waitOf(this.#policyOf(key), failures);
  }

  /** Number of records kept, shared ones left out. */
  get size(): number {
    return this.#watched.size + this.#waiting.size;
  }

  /**
   * Whether a further attempt may be made.
   * @param options.ownOnly Whether what is shared with others is left out of account.
   */
  state(key: string, { ownOnly = false }: { ownOnly?: boolean } = {}): State {
    const record = this.#recordOf(key) ?? (ownOnly ? undefined : this.#sharedOf(key)?.record);
    const waitMs = record === undefined ? 0 : record.until - this.#elapsed();
    if (waitMs > 0) return { waitMs, full: false };
    return (this.#underWay.get(key) ?? 0) < this.#mostUnderWay(key, record?.failures ?? 0) ? READY : FULL;
  }

  /**
   * Where several tables count together, each has its part of the attempts that may be under way, and once there is a failure
   * its part of those that are still free: what others have under way it learns too late.
   */
  #mostUnderWay(key: string, failures: number): number {
    const free = this.#policy.free + this.#extraFree(key);
    if (failures >= free) return 1;
    const clusterMembers = this.#clusterMembers();
    const most = Math.floor(this.#policy.underWay / clusterMembers) - failures;
    const left = clusterMembers > 1 && failures > 0 ? Math.floor((free - failures) / clusterMembers) : most;
    return Math.max(1, Math.min(most, left));
  }

  /**
   * Waits for the end of an attempt; called when there is room for one more.
   * @returns Whether there was room to wait.
   */
  queue(key: string, waiter: Waiter): boolean {
    const queue = this.#queues.get(key) ?? new FairQueue(QUEUE_LIMITS);
    this.#queues.set(key, queue);
    return queue.join({
      ...waiter,
      left: (why) => {
        if (queue.size === 0) this.#queues.delete(key);
        waiter.left(why);
      },
    });
  }

  /** An attempt begins. Each is ended by one {@link leave}, which gives those in the queue their turn. */
  enter(key: string): void {
    this.#underWay.set(key, (this.#underWay.get(key) ?? 0) + 1);
  }

  leave(key: string): void {
    const others = (this.#underWay.get(key) ?? 1) - 1;
    if (others === 0) this.#underWay.delete(key);
    else this.#underWay.set(key, others);
    // Each at most once: who has to wait on, for another reason than this table knows, queues again meanwhile.
    const queue = this.#queues.get(key);
    if (queue === undefined) return;
    for (let most = queue.size; most > 0 && !this.state(key).full; most--) queue.callNext();
    if (queue.size === 0) this.#queues.delete(key);
  }

  /** Counts a failure. @returns The record, if it is the subject's own. */
  fail(key: string, subject: S): FailureRecord<S> | undefined {
    const before = this.#recordOf(key);
    if (before === undefined && !this.#makeWorker()) {
      const { index, record } = this.#sharedOf(key) ?? { index: this.#indexOf(key), record: undefined };
      const maxMs = Math.min(this.#policy.maxMs, SHARED_MAX_MS);
      this.#shared.set(index, this.#next(record, undefined, { ...this.#policy, maxMs }));
      return undefined;
    }
    return this.#continue(key, before, this.#next(before, subject, this.#policyOf(key)));
  }

  /**
   * Takes over what all tables that count together know of a key that failed now, in place of what is known here. A running
   * wait is not shortened.
   * @returns The record, unless there is no room for it.
   */
  learn(key: string, subject: S, failures: number): FailureRecord<S> | undefined {
    const before = this.#recordOf(key);
    if (before === undefined && !this.#makeWorker()) return undefined;
    const known = { until: before?.until ?? 0, failures: failures - 1 };
    return this.#continue(key, before, this.#next(known, subject, this.#policyOf(key)));
  }

  /** Forgets the failures of a key, a running wait included. @returns Whether there were any. */
  forget(key: string): boolean {
    return this.#watched.delete(key) || this.#waiting.delete(key);
  }

  /** As {@link forget}, if the last failure came before a moment. */
  forgetBefore(key: string, moment: number): boolean {
    const record = this.#recordOf(key);
    return record !== undefined && record.at < moment && this.forget(key);
  }

  /** Forgets the failures of all subjects that match. @returns How many. */
  forgetWhere(matches: (subject: S) => boolean): number {
    let forgotten = 0;
    for (const records of [this.#watched, this.#waiting]) {
      for (const [key, { subject }] of records) {
        if (matches(subject) && records.delete(key)) forgotten++;
      }
    }
    return forgotten;
  }

  /**
   * The records that count, with their keys: those with a running wait first, then those that failed last.
   * @param most At most so many.
   */
  entries(most: number): [string, FailureRecord<S>][] {
    const all = [...this.#waiting, ...[...this.#watched].reverse()];
    return all.filter(([, record]) => !this.#isForgotten(record)).slice(0, most);
  }

  /** Takes over records of another table, as far as there is room; of two with one key, the graver stays. */
  adopt(entries: readonly (readonly [string, FailureRecord<S>])[]): void {
    // The last to be put is the last to be given up.
    for (const [key, record] of [...entries].reverse()) {
      const own = this.#recordOf(key);
      if (this.#isForgotten(record) || (own === undefined && !this.#makeWorker())) continue;
      this.#put(key, own === undefined ? record : graver(own, record));
    }
  }

  /** Records whose wait is running. @param most At most so many. */
  waiting(most = Infinity): FailureRecord<S>[] {
    const now = this.#elapsed();
    const found: FailureRecord<S>[] = [];
    for (const record of this.#waiting.values()) {
      if (found.length >= most) break;
      if (record.until > now) found.push(record);
    }
    return found;
  }

  /** How many these are. */
  get waitingCount(): number {
    const now = this.#elapsed();
    let count = 0;
    for (const { until } of this.#waiting.values()) if (until > now) count++;
    return count;
  }

  #policyOf(key: string): WaitPolicy {
    return { ...this.#policy, free: this.#policy.free + this.#extraFree(key) };
  }

  #next<T>(
    before: Pick<FailureRecord<T>, "failures" | "until"> | undefined,
    subject: T,
    policy: WaitPolicy,
  ): FailureRecord<T> {
    const now = this.#elapsed();
    const failures = (before?.failures ?? 0) + 1;
    const wait = waitOf(policy, failures);
    const until = wait > 0 ? Math.max(now + wait, before?.until ?? 0) : 0;
    return { subject, failures, at: now, until };
  }

  /** The record of a key while it counts; puts it where it belongs. */
  #recordOf(key: string): FailureRecord<S> | undefined {
    const record = this.#waiting.get(key) ?? this.#watched.get(key);
    if (record === undefined) return undefined;
    if (this.#isForgotten(record)) {
      this.forget(key);
      return undefined;
    }
    if (record.until <= this.#elapsed() && this.#waiting.has(key)) this.#put(key, record);
    return record;
  }

  #continue(
    key: string,
    before: FailureRecord<S> | undefined,
    record: FailureRecord<S>,
  ): FailureRecord<S> {
    this.#series.set(record, (before && this.#series.get(before)) ?? {});
    this.#put(key, record);
    return record;
  }

  #put(key: string, record: FailureRecord<S>): void {
    this.forget(key);
    (record.until > this.#elapsed() ? this.#waiting : this.#watched).set(key, record);
  }

  #isForgotten({ at, until }: FailureRecord<unknown>): boolean {
    return Math.max(at, until) + this.#policy.windowMs <= this.#elapsed();
  }

  /** Whether there is room for one more record, now or by giving up one that has no wait running. */
  #makeWorker(): boolean {
    if (this.size < this.#capacity) return true;
    if (this.#watched.size === 0) this.#releaseEndedWaits();
    const [oldest] = this.#watched.keys();
    return oldest !== undefined && this.#watched.delete(oldest);
  }

  #releaseEndedWaits(): void {
    const now = this.#elapsed();
    for (const [key, record] of this.#waiting) {
      if (record.until <= now) this.#put(key, record);
    }
  }

  #sharedOf(key: string): { index: number; record: FailureRecord<undefined> } | undefined {
    if (this.#shared.size === 0) return undefined;
    const index = this.#indexOf(key);
    const record = this.#shared.get(index);
    if (record === undefined) return undefined;
    if (!this.#isForgotten(record)) return { index, record };
    this.#shared.delete(index);
    return undefined;
  }

  #indexOf(key: string): number {
    return parseInt(hash("sha256", this.#sharedKey + key, "hex").slice(0, 8), 16) % SHARED_RECORDS;
  }
}

function waitOf({ free, baseMs, maxMs }: WaitPolicy, failures: number): number {
  const beyond = failures - free;
  return beyond > 0 ? Math.min(baseMs * 2 ** (beyond - 1), maxMs) : 0;
}

function graver<S>(one: FailureRecord<S>, other: FailureRecord<S>): FailureRecord<S> {
  return {
    subject: one.subject,
    failures: Math.max(one.failures, other.failures),
    at: Math.max(one.at, other.at),
    until: Math.max(one.until, other.until),
  };
}
