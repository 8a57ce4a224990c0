import type { Logger } from "../logging/logger.ts";
import { addressGroup } from "../model/address.ts";
import { canonicalDn } from "../model/distinguished_name.ts";
import type { Caller, Identity } from "../model/identity.ts";
import { type Credentials, userKey } from "../model/credentials.ts";
import { HttpError, httpError } from "../model/http_error.ts";
import type { BanSubject } from "./ban.ts";
import type { FailureRecord } from "./failure_table.ts";
import { type FailureCounter, type Limiter, passwordLimiter, tokenLimiter } from "./limiter.ts";
import { type Counted, type MemoryParts, ThrottlingMemory, type ThrottlingUpdate } from "./memory.ts";
import { type AttemptSubject, tooManyFailures } from "./operator_bans.ts";

/** Permitted attempt; exactly one of its three methods ends it. */
export interface Attempt {
  readonly knownAs?: string; // key of user and address if the user signed in from there within a day
  /** @param clears Whether earlier failures concern the same person. Default: true */
  succeeded(clears?: boolean): void;
  failed(): void;
  undecided(): void; // no result: the source failed, or the caller disconnected
}

/** Failed attempt's counter with its record. */
export interface CountedFailure {
  readonly counter: FailureCounter;
  readonly record: FailureRecord<BanSubject>;
}

/** Failure that other instances are counting. The promises never reject. */
export interface Counting {
  /** Failures of all instances per counter, if known; may be late. */
  readonly totals: Promise<readonly (number | undefined)[]>;
  readonly soon: Promise<void>; // settles with `totals` or after the longest wait
}

interface Others {
  /** Counts a failure for all instances; the attempt lasts until then. Absent if the others are unreachable. */
  count(failed: readonly CountedFailure[]): Counting | undefined;
  /** Reports a success. @param pair Key of user and address. @param clears Whether to clear its earlier failures. */
  passed(pair: string, clears: boolean): void;
}

interface ThrottleParts extends MemoryParts {
  readonly log: Logger;
  /** Formats a typed name for the log. Default: hides it. */
  readonly formatName?: (name: string) => string | undefined;
  readonly issuers?: ReadonlySet<string>; // providers whose tokens are verified locally. Default: none
  readonly maxWaitMs?: number;
  /** Called for each change before the caller gets the result. */
  readonly onUpdate?: (update: ThrottlingUpdate) => void;
  readonly others?: Others; // default: no other instances
}

const MAX_WAIT_MS = 10_000; // milliseconds in the queue

/**
 * Slows down guessing. Failed passwords count for the user at the address, the address and the user, whether or not the
 * user exists; after some free failures, waits double. During a wait no password is checked, not even the right one. An
 * address may serve thousands of users: there repeated failures of one name count once, and each known user raises the
 * limit of free failures.
 * - A right password clears only its user at its address: otherwise an account holder could clear an address between
 * guesses at others.
 * - A user known at an address (right password within a day) waits there only for failures of that name from there.
 * Otherwise anybody could lock a user out for good. Others at the address can detect this.
 * - Tokens and keys have counts of their own. For users known at an address, only tokens that a provider has to verify
 * count.
 */
export class LoginThrottle {
  readonly memory: ThrottlingMemory;

  constructor(readonly parts: ThrottleParts) {
    this.memory = new ThrottlingMemory(parts);
  }

  /**
   * Admits an attempt, or returns a promise of it while too many others run; `signal` ends that wait.
   * @throws {ERR_TOO_MANY_FAILURES} 429 if it is too early. The promise also: {@link NoPermit}, 429.
   */
  admit({ authorization, clientAddress }: Credentials, signal?: AbortSignal): Attempt | Promise<Attempt> {
    const address = addressGroup(clientAddress);
    switch (authorization.kind) {
      case "none":
      case "malformed":
        return UNCOUNTED; // no authenticator would read it
      case "basic":
        return this.#enterPassword(authorization.user, address, signal);
      case "bearer": {
        const { claimant, route, issuer = "" } = authorization;
        const asked = route === "provider" && !this.parts.issuers?.has(issuer);
        return this.#enter(tokenLimiter(this.memory, address, { claimant, asked }), signal);
      }
      case "ssh-legacy": {
        const user = userKey(authorization.user);
        this.memory.operator.admit({ users: [user], address });
        return this.#enter(tokenLimiter(this.memory, address, { claimant: user, asked: false }), signal);
      }
    }
  }

  /** Admits a guess at a link's password. @throws As {@link admit}. */
  admitLink(link: string, clientAddress: string, signal?: AbortSignal): Attempt | Promise<Attempt> {
    return this.#enterPassword(`link:${link}`, addressGroup(clientAddress), signal, "links ");
  }

  #enterPassword(typed: string, address: string, signal: AbortSignal | undefined, group?: string) {
    const { operator } = this.memory;
    if (operator.list().length > 0) operator.admit({ users: [userKey(typed)], address });
    return this.#enter(passwordLimiter(this.memory, typed, address, group), signal);
  }

  /** Admits an attempt that names no user. Each kind counts separately. @throws As {@link admit}. */
  admitKey(kind: string, clientAddress: string, signal?: AbortSignal): Attempt | Promise<Attempt> {
    const address = addressGroup(clientAddress);
    return this.#enter(tokenLimiter(this.memory, address, { asked: false, kind }), signal);
  }

  /** Checks an address for operator bans. @throws {ERR_TOO_MANY_FAILURES} 429 */
  admitAddress(clientAddress: string): void {
    this.memory.operator.admit({ users: [], address: addressGroup(clientAddress) });
  }

  /** Checks an identified caller for operator bans. @throws {ERR_TOO_MANY_FAILURES} 429 */
  admitCaller(identity: Identity, clientAddress: string, accounts: readonly string[] = []): void {
    if (this.memory.operator.list().length === 0) return;
    this.memory.operator.admit(attemptSubject(identity, clientAddress, accounts));
  }

  /** Calls `end` once, with the reason, when an operator bans the caller. Returns a function that stops watching. */
  watch(
    { caller, clientAddress, accounts }: {
      readonly caller: Caller;
      readonly clientAddress: string;
      readonly accounts: readonly string[];
    },
    end: (reason: unknown) => void,
  ): () => void {
    const subject = caller.kind === "anonymous"
      ? { users: [], address: addressGroup(clientAddress) }
      : attemptSubject(caller.identity, clientAddress, accounts);
    return this.memory.operator.watch(subject, end);
  }

  /** Returns a counter with too many running attempts. @throws {ERR_TOO_MANY_FAILURES} During a wait. */
  #check({ counters }: Limiter): FailureCounter | undefined {
    let longest = { waitMs: 0, scope: "" };
    let busy: FailureCounter | undefined;
    for (const counter of counters) {
      const { waitMs, full } = counter.table.state(counter.key);
      if (waitMs > longest.waitMs) longest = { waitMs, scope: counter.scope };
      if (full) busy ??= counter;
    }
    if (longest.waitMs > 0) throw tooManyFailures(longest.waitMs, longest.scope);
    return busy;
  }

  #enter(own: Limiter, signal: AbortSignal | undefined): Attempt | Promise<Attempt> {
    const limiter = this.parts.config.enabled ? own : { ...own, counters: [] };
    const busy = this.#check(limiter);
    return busy === undefined ? this.#begin(limiter) : this.#inTurn(limiter, busy, signal);
  }

  /** Waits while too many attempts are running, and checks again whenever one ends. */
  #inTurn(limiter: Limiter, busy: FailureCounter, signal: AbortSignal | undefined): Promise<Attempt> {
    const until = performance.now() + (this.parts.maxWaitMs ?? MAX_WAIT_MS);
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const decide = (late: boolean) => {
        try {
          const next = this.#check(limiter);
          if (next === undefined) resolve(this.#begin(limiter));
          else if (late) reject(tooMany());
          else queue(next);
        } catch (error) {
          reject(error);
        }
      };
      const queue = ({ table, key, queueKey }: FailureCounter) => {
        const joined = table.queue(key, {
          queueKey,
          maxWaitMs: until - performance.now(),
          signal,
          called: () => decide(false),
          left: (why) => why === "aborted" ? reject(signal?.reason) : decide(true),
        });
        if (!joined) reject(tooMany());
      };
      queue(busy);
    });
  }

  /** Begins an attempt; only its first end counts. */
  #begin({ counters, pair, known }: Limiter): Attempt {
    for (const { table, key } of counters) table.enter(key);
    let ended = false;
    const end = (outcome: "succeeded" | "failed" | "undecided", clears = true) => {
      if (ended) return;
      ended = true;
      if (outcome === "succeeded" && pair !== undefined) this.#succeeded(pair, clears);
      const counting = outcome === "failed" ? this.#failed(counters) : undefined;
      const leave = () => counters.forEach(({ table, key }) => table.leave(key));
      if (counting === undefined) leave();
      else void counting.finally(leave);
    };
    return {
      knownAs: known ? pair : undefined,
      succeeded: (clears) => end("succeeded", clears),
      failed: () => end("failed"),
      undecided: () => end("undecided"),
    };
  }

  #succeeded(pair: string, clears: boolean): void {
    const isCleared = clears && this.memory.forgetPair(pair);
    const at = this.memory.known.add(pair);
    if (!isCleared && at === undefined) return;
    const { others, onUpdate } = this.parts;
    others?.passed(pair, clears);
    const known = at === undefined ? undefined : [[pair, at] as const];
    onUpdate?.({ asOf: this.memory.steady(), cleared: clears ? [pair] : undefined, known });
  }

  /** Counts a failure. The promise settles once other instances counted it or take too long. */
  #failed(counters: readonly FailureCounter[]): Promise<void> | undefined {
    const failed: CountedFailure[] = [];
    let isFirst = true;
    for (const counter of counters) {
      const { table, key, subject, once } = counter;
      if (once && !isFirst) continue;
      const record = table.fail(key, subject);
      isFirst = record.failures === 1;
      this.#logWait(counter, record);
      failed.push({ counter, record });
    }
    this.#publish(failed);
    const counting = this.parts.others?.count(failed);
    void counting?.totals.then((totals) => this.#adoptTotals(failed, totals));
    return counting?.soon;
  }

  /** Replaces local counts by those of all instances. */
  #adoptTotals(failed: readonly CountedFailure[], totals: readonly (number | undefined)[]): void {
    const changed = failed.flatMap(({ counter, record: before }, i) => {
      const { failures } = before;
      const total = totals[i];
      if (total === undefined || total === failures || !counter.table.counts(counter.key, before)) return [];
      const since = counter.table.failuresOf(counter.key);
      if (since > failures && since >= total) return []; // late: local knowledge is newer
      const record = counter.table.setTotal(counter.key, counter.subject, total);
      this.#logWait(counter, record);
      return [{ counter, record }];
    });
    if (changed.length > 0) this.#publish(changed);
  }

  #publish(failed: readonly CountedFailure[]): void {
    const diff: { [T in Counted]?: [string, FailureRecord<BanSubject>][] } = {}; // latest first
    for (const { counter: { counted, key }, record } of failed) (diff[counted] ??= []).unshift([key, record]);
    this.parts.onUpdate?.({ asOf: this.memory.steady(), ...diff });
  }

  #logWait(
    { scope, typed, subject: { address } }: FailureCounter,
    { failures, at, until }: FailureRecord<BanSubject>,
  ): void {
    if (until === 0) return;
    const user = typed === undefined ? undefined : this.parts.formatName?.(typed);
    this.parts.log.warn("too many failed attempts", { scope, user, address, failures, waitMs: until - at });
  }
}

const UNCOUNTED: Attempt = { succeeded() {}, failed() {}, undecided() {} };

const tooMany = () =>
  httpError("ERR_TOO_MANY_AT_ONCE", "too many logins of the user or from the address at once");

/** Returns the facts to compare with bans. */
export function attemptSubject(
  { dn, login, uid, issuedToken }: Identity,
  clientAddress: string,
  accounts: readonly string[],
): AttemptSubject {
  const { by = dn, byLogin, byUid } = issuedToken ?? {};
  const users = [login, uid, byLogin, byUid, ...accounts].filter((user) => user !== undefined).map(userKey);
  return { users, names: [dn, by].map(canonicalDn), address: addressGroup(clientAddress) };
}

/** Codes for wrong credentials, as opposed to outages. */
const WRONG: ReadonlySet<string> = new Set([
  "ERR_CERTIFICATE_REFUSED",
  "ERR_LINK_PASSWORD",
  "ERR_NOT_FOUND",
  "ERR_UNAUTHENTICATED",
]);

/** Result of an attempt; `ambiguous` if accepted after failures of a possible namesake, `skipped` if it was not read. */
type AttemptEnd = "accepted" | "ambiguous" | "refused" | "undecided" | "skipped";

/** Runs a check and ends its permitted attempt with the result. An error for wrong credentials counts as a failure. */
export async function throttleLogin<T>(
  admitted: Attempt | Promise<Attempt>,
  check: (knownAs: string | undefined) => Promise<T>,
  endOf: (result: T) => AttemptEnd = () => "accepted",
): Promise<T> {
  const attempt = admitted instanceof Promise ? await admitted : admitted;
  let end: AttemptEnd = "undecided";
  try {
    const result = await check(attempt.knownAs);
    end = endOf(result);
    return result;
  } catch (error) {
    if (error instanceof HttpError && WRONG.has(error.code)) end = "refused";
    throw error;
  } finally {
    if (end === "accepted" || end === "ambiguous") attempt.succeeded(end === "accepted");
    else if (end === "refused") attempt.failed();
    else attempt.undecided();
  }
}
