import type { Logger } from "../logging/logger.ts";
import { addressGroup } from "../model/address_group.ts";
import { canonicalDn } from "../model/distinguished_name.ts";
import type { Caller, Identity } from "../model/identity.ts";
import type { Credentials } from "../model/credentials.ts";
import { httpError } from "../model/http_error.ts";
import type { BanSubject } from "./ban.ts";
import type { FailureRecord } from "./failure_table.ts";
import { type Limiter, passwordLimiter, type Place, tokenLimiter } from "./limiter.ts";
import { type Counted, type MemoryParts, ThrottlingMemory } from "./memory.ts";
import type { Attempted } from "./operator_bans.ts";
import type { ThrottlingNews } from "./throttling_state.ts";
import { tooManyFailures } from "./too_many_failures.ts";
import { userKey } from "./user_key.ts";

/** An attempt that may be made. Exactly one of the three ends it. */
export interface Attempt {
  /** Set if the user has passed from this address within a day, as far as the credentials tell: a name for the two. */
  readonly knownAs?: string;
  succeeded(): void;
  /** The credentials were wrong. */
  failed(): void;
  /** Nobody could say, or the caller has gone. */
  undecided(): void;
}

/** A place where an attempt failed, and what is known of it now. */
export interface FailedPlace {
  readonly place: Place;
  readonly record: FailureRecord<BanSubject>;
}

/** A failure that others are counting. Neither of the two rejects. */
export interface Counting {
  /** How often all together have seen each place fail, as far as that is told; however late. */
  readonly totals: Promise<readonly (number | undefined)[]>;
  /** Settles with them, or when they are not to be waited for any longer. */
  readonly soon: Promise<void>;
}

/** Other instances of the service, which count as well. */
interface Others {
  /**
   * Has them count a failure; until they have, the attempt is under way.
   * @returns Absent if nobody can be asked.
   */
  count(failed: readonly FailedPlace[]): Counting | undefined;
  /** Tells them of a right password. @param pair Name of the user and the address together. */
  passed(pair: string): void;
}

/** Milliseconds that further ones wait for their turn. */
const MAX_WAIT_MS = 10_000;

/**
 * Slows down guessing. Failed passwords are counted for the user at the address, for the address, and for the user;
 * users who do not exist count like all others. Each count has some free failures, then waits that double. While one
 * of the waits runs no password is looked at, the right one neither.
 *
 * One address may stand for thousands of users, so there each name counts once, however often it fails, and as many more
 * failures are free as users are known at the address.
 *
 * - A right password clears the count of that user at that address, no other: else whoever has one account could clear
 *   the count of his address between two guesses at another's.
 * - A user known at an address, by a right password within a day, waits there because of guesses at that very name from
 *   there alone, and counts for nobody else. (So whoever shares the address and has the user guessed at from many others
 *   can tell. Else anybody could keep any user out for good.)
 * - Tokens and keys are counted by address and apart from passwords: guesses at passwords never keep them out. Whoever has
 *   passed there with a token does not wait for the failures of others: tokens that a provider has to be asked about are
 *   counted by whom they claim to be of, those that are verified here not at all.
 */
export class LoginThrottle {
  /** What is counted, for all attempts together. */
  readonly memory: ThrottlingMemory;
  readonly #log: Logger;
  readonly #enabled: boolean;
  readonly #maxWaitMs: number;
  readonly #shown: (name: string) => string | undefined;
  readonly #issuers: ReadonlySet<string>;
  readonly #learned: (news: ThrottlingNews) => void;
  readonly #others: Others | undefined;

  constructor(
    {
      log,
      shown = () => undefined,
      maxWaitMs = MAX_WAIT_MS,
      issuers = new Set(),
      learned = () => {},
      others,
      ...parts
    }:
      & MemoryParts
      & {
        readonly log: Logger;
        /** Returns what the log shows for a name that was typed; default: the log shows none. */
        readonly shown?: (name: string) => string | undefined;
        /** Identity providers whose tokens are verified here, and who are not asked about them; default: none. */
        readonly issuers?: ReadonlySet<string>;
        readonly maxWaitMs?: number;
        /** Told of each failure that counts, and of each success that changes something, before its caller knows of it. */
        readonly learned?: (news: ThrottlingNews) => void;
        /** Default: this instance is alone. */
        readonly others?: Others;
      },
  ) {
    this.memory = new ThrottlingMemory(parts);
    this.#maxWaitMs = maxWaitMs;
    this.#shown = shown;
    this.#issuers = issuers;
    this.#learned = learned;
    this.#others = others;
    this.#log = log;
    this.#enabled = parts.config.enabled;
  }

  /**
   * Asks for leave to have credentials checked.
   * @param signal Gives up waiting.
   * @returns The attempt, or, while too many others are under way, a promise of it.
   * @throws {ERR_TOO_MANY_FAILURES} 429, if it is too early. The promise also: {@link TooManyAtOnce}, 429; the signal's reason.
   */
  admit({ authorization, clientAddress }: Credentials, signal?: AbortSignal): Attempt | Promise<Attempt> {
    const address = addressGroup(clientAddress);
    switch (authorization.kind) {
      case "none":
      case "malformed":
        return FREE; // nothing that a method would look at
      case "basic": {
        this.memory.operator.admit({ users: [userKey(authorization.user)], address });
        return this.#enter(passwordLimiter(this.memory, authorization.user, address), signal);
      }
      case "bearer":
        return this.#enter(
          tokenLimiter(this.memory, address, {
            claimant: authorization.claimant,
            asked: authorization.route === "provider" && !this.#issuers.has(authorization.issuer ?? ""),
          }),
          signal,
        );
      case "ssh-legacy": {
        const user = userKey(authorization.user);
        this.memory.operator.admit({ users: [user], address });
        return this.#enter(tokenLimiter(this.memory, address, { claimant: user, asked: false }), signal);
      }
    }
  }

  /**
   * Asks for leave to have a certificate for a key looked at, which counts as a key does.
   * @param signal Gives up waiting.
   * @throws As {@link admit}.
   */
  admitKey(clientAddress: string, signal?: AbortSignal): Attempt | Promise<Attempt> {
    const place = addressGroup(clientAddress);
    return this.#enter(tokenLimiter(this.memory, place, { claimant: undefined, asked: false }), signal);
  }

  /**
   * Asks whether an address may have anything at all.
   * @throws {ERR_TOO_MANY_FAILURES} 429, if the operator has banned it.
   */
  admitAddress(clientAddress: string): void {
    this.memory.operator.admit({ users: [], address: addressGroup(clientAddress) });
  }

  /**
   * Asks whether a caller may pass who is known by now, whatever they have shown.
   * @param accounts That the attribute sources gave them; asked again as soon as these are known.
   * @throws {ERR_TOO_MANY_FAILURES} 429, if the operator has banned the user.
   */
  admitCaller(identity: Identity, clientAddress: string, accounts: readonly string[] = []): void {
    if (this.memory.operator.list().length === 0) return;
    this.memory.operator.admit(attemptedBy(identity, clientAddress, accounts));
  }

  /**
   * Ends what a caller has under way as soon as the operator bans them, or their address.
   * @param whose.accounts That the attribute sources gave them.
   * @param end Told why, once.
   * @returns To be called when it is over.
   */
  watch(
    { caller, clientAddress, accounts }: {
      readonly caller: Caller;
      readonly clientAddress: string;
      readonly accounts: readonly string[];
    },
    end: (reason: unknown) => void,
  ): () => void {
    const attempted = caller.kind === "anonymous"
      ? { users: [], address: addressGroup(clientAddress) }
      : attemptedBy(caller.identity, clientAddress, accounts);
    return this.memory.operator.watch(attempted, end);
  }

  /**
   * @returns A place with too many attempts under way, if there is one.
   * @throws {ERR_TOO_MANY_FAILURES} With the longest wait, if there is any.
   */
  #judge({ places, known }: Limiter): Place | undefined {
    let longest = { waitMs: 0, scope: "" };
    let crowded: Place | undefined;
    for (const place of places) {
      const { waitMs, full } = place.table.state(place.key, { ownOnly: known });
      if (waitMs > longest.waitMs) longest = { waitMs, scope: place.scope };
      if (full) crowded ??= place;
    }
    if (longest.waitMs > 0) throw tooManyFailures(longest.waitMs, longest.scope);
    return crowded;
  }

  #enter(own: Limiter, signal: AbortSignal | undefined): Attempt | Promise<Attempt> {
    const limiter = this.#enabled ? own : { ...own, places: [] };
    const crowded = this.#judge(limiter);
    return crowded === undefined ? this.#begin(limiter) : this.#inTurn(limiter, crowded, signal);
  }

  /** Waits as long as others are in the way; judged anew each time that one of them has ended. */
  #inTurn(limiter: Limiter, crowded: Place, signal: AbortSignal | undefined): Promise<Attempt> {
    const until = performance.now() + this.#maxWaitMs;
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const decide = (late: boolean) => {
        try {
          const next = this.#judge(limiter);
          if (next === undefined) resolve(this.#begin(limiter));
          else if (late) reject(crowd());
          else queue(next);
        } catch (error) {
          reject(error);
        }
      };
      const queue = ({ table, key, queueKey }: Place) => {
        const joined = table.queue(key, {
          queueKey,
          maxWaitMs: until - performance.now(),
          signal,
          called: () => decide(false),
          left: (why) => why === "aborted" ? reject(signal?.reason) : decide(true),
        });
        if (!joined) reject(crowd());
      };
      queue(crowded);
    });
  }

  /** An attempt under way. It ends once, however often it is told so. */
  #begin({ places, pair, known }: Limiter): Attempt {
    for (const { table, key } of places) table.enter(key);
    let ended = false;
    const end = (outcome: "succeeded" | "failed" | "undecided") => {
      if (ended) return;
      ended = true;
      if (outcome === "succeeded" && pair !== undefined) this.#succeeded(pair);
      const counting = outcome === "failed" ? this.#failed(places) : undefined;
      const leave = () => places.forEach(({ table, key }) => table.leave(key));
      if (counting === undefined) leave();
      else void counting.finally(leave);
    };
    return {
      knownAs: known ? pair : undefined,
      succeeded: () => end("succeeded"),
      failed: () => end("failed"),
      undecided: () => end("undecided"),
    };
  }

  #succeeded(pair: string): void {
    const cleared = this.memory.tables.pairs.forget(pair);
    const at = this.memory.known.add(pair);
    if (cleared || at !== undefined) {
      this.#others?.passed(pair);
      this.#learned({
        asOf: this.memory.steady(),
        cleared: [pair],
        known: at === undefined ? undefined : [[pair, at]],
      });
    }
  }

  /** @returns Settles when the other instances have counted it too, or take too long; absent: they do not. */
  #failed(places: readonly Place[]): Promise<void> | undefined {
    const failed: FailedPlace[] = [];
    let isNewName = true;
    for (const place of places) {
      const { counted, table, key, subject } = place;
      if (counted === "addresses" && !isNewName) continue;
      const record = table.fail(key, subject);
      if (counted === "pairs" && record !== undefined) isNewName = record.failures === 1;
      this.#tell(place, record);
      if (record !== undefined) failed.push({ place, record });
    }
    this.#pass(failed);
    const counting = this.#others?.count(failed);
    void counting?.totals.then((totals) => this.#adoptTotals(failed, totals));
    return counting?.soon;
  }

  /** What all instances together counted holds in place of what was counted here. */
  #adoptTotals(failed: readonly FailedPlace[], totals: readonly (number | undefined)[]): void {
    const changed = failed.flatMap(({ place, record: before }, i) => {
      const { failures } = before;
      const total = totals[i];
      if (total === undefined || total === failures || !place.table.counts(place.key, before)) return [];
      const since = place.table.failuresOf(place.key);
      if (since > failures && since >= total) return []; // it came late: more is known by now
      const record = place.table.learn(place.key, place.subject, total);
      this.#tell(place, record);
      return record === undefined ? [] : [{ place, record }];
    });
    if (changed.length > 0) this.#pass(changed);
  }

  /** Tells of records that changed. */
  #pass(failed: readonly FailedPlace[]): void {
    const news: { [T in Counted]?: [string, FailureRecord<BanSubject>][] } = {};
    for (const { place: { counted, key }, record } of failed) news[counted] = [[key, record]];
    this.#learned({ asOf: this.memory.steady(), ...news });
  }

  #tell({ scope, typed, subject: { address } }: Place, record: FailureRecord<BanSubject> | undefined): void {
    if (record === undefined || record.until === 0) return;
    const { failures, at, until } = record;
    const user = typed === undefined ? undefined : this.#shown(typed);
    this.#log.warn("too many failed attempts", { scope, user, address, failures, waitMs: until - at });
  }
}

const FREE: Attempt = { succeeded() {}, failed() {}, undecided() {} };

/** No turn came. */
const crowd = () =>
  httpError("ERR_TOO_MANY_AT_ONCE", "too many logins of the user or from the address at once");

/** Returns what bans are compared with. */
export function attemptedBy(
  { dn, login, uid }: Identity,
  clientAddress: string,
  accounts: readonly string[],
): Attempted {
  const users = [login, uid, ...accounts].flatMap((user) => user === undefined ? [] : [userKey(user)]);
  return { users, name: canonicalDn(dn), address: addressGroup(clientAddress) };
}
