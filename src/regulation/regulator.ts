import type { RegulationConfig } from "../config/service_config.ts";
import type { Logger } from "../logging/logger.ts";
import type { Clock } from "../model/clock.ts";
import type { Credentials } from "../model/credentials.ts";
import { addressGroup } from "./address_group.ts";
import type { Ban, BanSubject } from "./ban.ts";
import { type FailureRecord, FailureTable } from "./failure_table.ts";
import { OperatorBans } from "./operator_bans.ts";
import { RecentKeys } from "./recent_keys.ts";
import type { RegulationNews, RegulationState } from "./regulation_state.ts";
import { TooManyAtOnce } from "./too_many_at_once.ts";
import { TooManyFailures } from "./too_many_failures.ts";
import { userKey } from "./user_key.ts";

/** An attempt that may be made. Exactly one of the three ends it. */
export interface Attempt {
  succeeded(): void;
  /** The credentials were wrong. */
  failed(): void;
  /** Nobody could say, or the caller has gone. */
  undecided(): void;
}

/** Records in each table; with the longest names about 20 MB. */
const CAPACITY = 50_000;
/** Records of each table that are handed to a successor: some 10 MB, and 50 ms to copy. */
const HANDED_OVER = 10_000;
/** One address may stand for many users, one user may try from many addresses: as many times the free failures. */
const SPREAD = 4;
/** Tokens and keys cannot be guessed; their failures are clients that went wrong, and cost work elsewhere. */
const TOKEN_SPREAD = 20;
/** Longest wait that strangers can impose on a user elsewhere, or on the tokens from an address. */
const MAX_COLLATERAL_MS = 60_000;
/** How long a user is known at an address after a right password. */
const KNOWN_MS = 24 * 60 * 60_000;
/**
 * Attempts of a user at an address that may be under way at once, so that nobody gets many guesses by making them
 * before the first is counted. A check that needs no waiting is over before the next request is looked at.
 */
const UNDER_WAY = 32;
/** Milliseconds that further ones wait for their turn. */
const PATIENCE_MS = 10_000;

/** Names of the tables. */
type Counted = "pairs" | "addresses" | "users" | "tokens";

/** A subject in a table where it is counted. */
interface Place {
  readonly counted: Counted;
  /** For the log. */
  readonly scope: string;
  readonly table: FailureTable<BanSubject>;
  readonly key: string;
  readonly subject: BanSubject;
}

/** What an attempt counts in while it is under way, and afterwards if it failed. */
interface Gate {
  readonly places: readonly Place[];
  /** Of passwords: key of the user at the address. */
  readonly pair?: string;
}

/**
 * Slows down guessing. Failed passwords are counted for the user at the address, for the address, and for the user;
 * users who do not exist count like all others. Each count has some free failures, then waits that double. While one
 * of the waits runs no password is looked at, the right one neither.
 *
 * - A right password clears the count of that user at that address, no other: else whoever has one account could clear
 *   the count of his address between two guesses at another's.
 * - A user known at an address, by a right password within a day, does not wait there because of guesses elsewhere.
 *   (So whoever shares the address and has the user guessed at from many others can tell. Else anybody could keep any
 *   user out for good.)
 * - Tokens and keys are counted by address and apart from passwords: guesses at passwords never keep them out.
 */
export class Regulator {
  readonly #log: Logger;
  readonly #enabled: boolean;
  readonly #pairs: FailureTable<BanSubject>;
  readonly #addresses: FailureTable<BanSubject>;
  readonly #users: FailureTable<BanSubject>;
  readonly #tokens: FailureTable<BanSubject>;
  readonly #known: RecentKeys;
  readonly #operator: OperatorBans;
  readonly #patienceMs: number;
  readonly #learned: (news: RegulationNews) => void;

  constructor(
    { config, log, now, capacity = CAPACITY, patienceMs = PATIENCE_MS, learned = () => {} }: {
      config: RegulationConfig;
      log: Logger;
      now: Clock;
      capacity?: number;
      patienceMs?: number;
      /** Told of each failure that counts, and of each success that changes something, before its caller knows of it. */
      learned?: (news: RegulationNews) => void;
    },
  ) {
    this.#patienceMs = patienceMs;
    this.#learned = learned;
    this.#log = log;
    this.#enabled = config.enabled;
    const baseMs = config.baseDelaySeconds * 1000;
    const maxMs = config.maxDelaySeconds * 1000;
    const windowMs = config.windowSeconds * 1000;
    const table = (spread: number, longestMs: number) => {
      const free = config.maxFailures * spread;
      const policy = {
        free,
        baseMs,
        maxMs: Math.min(maxMs, longestMs),
        windowMs,
        underWay: UNDER_WAY * spread,
      };
      return new FailureTable<BanSubject>({ policy, capacity, now });
    };
    this.#pairs = table(1, maxMs);
    this.#addresses = table(SPREAD, maxMs);
    this.#users = table(SPREAD, MAX_COLLATERAL_MS);
    this.#tokens = table(TOKEN_SPREAD, MAX_COLLATERAL_MS);
    this.#known = new RecentKeys({ lifetimeMs: KNOWN_MS, capacity, now });
    this.#operator = new OperatorBans(now);
  }

  /**
   * Asks for leave to have credentials checked.
   * @returns The attempt, or, while too many others are under way, a promise of it.
   * @throws {TooManyFailures} 429, if it is too early. The promise also: {@link TooManyAtOnce}, 429.
   */
  admit({ authorization, clientAddress }: Credentials): Attempt | Promise<Attempt> {
    const address = addressGroup(clientAddress);
    switch (authorization.kind) {
      case "none":
      case "malformed":
        return FREE; // nothing that a method would look at
      case "basic":
        this.#operator.admit({ user: userKey(authorization.user), address });
        return this.#enabled ? this.#enter(this.#passwordGate(userKey(authorization.user), address)) : FREE;
      case "bearer":
        this.#operator.admit({ address });
        return this.#enabled ? this.#enter(this.#tokenGate(address)) : FREE;
      case "ssh-legacy":
        this.#operator.admit({ user: userKey(authorization.user), address });
        return this.#enabled ? this.#enter(this.#tokenGate(address)) : FREE;
    }
  }

  /** Everybody who has to wait at the moment. */
  bans(): Ban[] {
    const found = (table: FailureTable<BanSubject>, reason: Ban["reason"]) =>
      table.waiting().map(({ subject, failures, until }) => ({ ...subject, reason, failures, until }));
    return [
      ...this.#operator.list(),
      ...found(this.#pairs, "passwords"),
      ...found(this.#addresses, "passwords"),
      ...found(this.#users, "passwords"),
      ...found(this.#tokens, "tokens"),
    ];
  }

  /**
   * Bans by hand, until a moment in milliseconds since the epoch. An address is kept out with whatever it shows, a user
   * with passwords and legacy SSH tokens: other tokens name their user only once they are verified.
   */
  ban({ user, address }: BanSubject, until: number): void {
    this.#operator.add(counted({ user, address }), until);
  }

  /**
   * Ends all waits, and forgets all failures, that concern a user, an address, or a user at an address.
   * @returns How many were there.
   */
  lift(whom: BanSubject): number {
    const { user, address } = counted(whom);
    const matches = (subject: BanSubject) =>
      (user === undefined || subject.user === user) && (address === undefined || subject.address === address);
    const tables = [this.#pairs, this.#addresses, this.#users, this.#tokens];
    return tables.reduce((sum, table) => sum + table.forgetWhere(matches), this.#operator.remove(matches));
  }

  /** What a successor has to know. */
  state(): RegulationState {
    return {
      pairs: this.#pairs.entries(HANDED_OVER),
      addresses: this.#addresses.entries(HANDED_OVER),
      users: this.#users.entries(HANDED_OVER),
      tokens: this.#tokens.entries(HANDED_OVER),
      known: this.#known.entries(HANDED_OVER),
      operator: this.#operator.list(),
    };
  }

  /** Takes over what a predecessor knew. Waits that run go on, also if the configuration makes shorter ones now. */
  adopt(
    { cleared = [], pairs = [], addresses = [], users = [], tokens = [], known, operator = [] }:
      RegulationNews,
  ): void {
    for (const pair of cleared) this.#pairs.forget(pair);
    this.#pairs.adopt(pairs);
    this.#addresses.adopt(addresses);
    this.#users.adopt(users);
    this.#tokens.adopt(tokens);
    if (known !== undefined) this.#known.adopt(known);
    this.#operator.adopt(operator);
  }

  #passwordGate(user: string, address: string): Gate {
    const pair = `${address}\0${user}`;
    return {
      places: [
        {
          counted: "pairs",
          scope: "user at address",
          table: this.#pairs,
          key: pair,
          subject: { user, address },
        },
        {
          counted: "addresses",
          scope: "address",
          table: this.#addresses,
          key: address,
          subject: { address },
        },
        { counted: "users", scope: "user", table: this.#users, key: user, subject: { user } },
      ],
      pair,
    };
  }

  #tokenGate(address: string): Gate {
    const subject = { address };
    const scope = "tokens from address";
    return { places: [{ counted: "tokens", scope, table: this.#tokens, key: address, subject }] };
  }

  /**
   * @returns A place with too many attempts under way, if there is one.
   * @throws {TooManyFailures} With the longest wait, if there is any.
   */
  #judge({ places, pair }: Gate): Place | undefined {
    const known = pair !== undefined && this.#known.has(pair);
    let longest = { waitMs: 0, scope: "" };
    let crowded: Place | undefined;
    for (const place of places) {
      if (known && place.table === this.#users) continue;
      const { waitMs, full } = place.table.standing(place.key, { ownOnly: known });
      if (waitMs > longest.waitMs) longest = { waitMs, scope: place.scope };
      if (full) crowded ??= place;
    }
    if (longest.waitMs > 0) throw new TooManyFailures(longest.waitMs, longest.scope);
    return crowded;
  }

  #enter(gate: Gate): Attempt | Promise<Attempt> {
    const crowded = this.#judge(gate);
    return crowded === undefined ? this.#begin(gate) : this.#inTurn(gate, crowded);
  }

  /** Waits as long as others are in the way; judged anew each time that one of them has ended. */
  #inTurn(gate: Gate, crowded: Place): Promise<Attempt> {
    const until = performance.now() + this.#patienceMs;
    return new Promise((resolve, reject) => {
      const queue = ({ table, key }: Place): void =>
        table.queue(key, until - performance.now(), (late) => {
          try {
            const next = this.#judge(gate);
            if (next === undefined) resolve(this.#begin(gate));
            else if (late) reject(new TooManyAtOnce());
            else queue(next);
          } catch (error) {
            reject(error);
          }
        });
      queue(crowded);
    });
  }

  /** An attempt under way. It ends once, however often it is told so. */
  #begin({ places, pair }: Gate): Attempt {
    for (const { table, key } of places) table.enter(key);
    let ended = false;
    const end = (outcome: keyof Attempt) => {
      if (ended) return;
      ended = true;
      if (outcome === "succeeded" && pair !== undefined) this.#succeeded(pair);
      if (outcome === "failed") this.#failed(places);
      for (const { table, key } of places) table.leave(key);
    };
    return {
      succeeded: () => end("succeeded"),
      failed: () => end("failed"),
      undecided: () => end("undecided"),
    };
  }

  #succeeded(pair: string): void {
    const cleared = this.#pairs.forget(pair);
    const at = this.#known.add(pair);
    if (cleared || at !== undefined) {
      this.#learned({ cleared: [pair], ...(at !== undefined && { known: [[pair, at]] }) });
    }
  }

  #failed(places: readonly Place[]): void {
    const news: { [T in Counted]?: [string, FailureRecord<BanSubject>][] } = {};
    for (const { counted, scope, table, key, subject } of places) {
      const record = table.fail(key, subject);
      this.#tell(scope, record);
      if (record !== undefined) news[counted] = [[key, record]];
    }
    this.#learned(news);
  }

  #tell(scope: string, record: FailureRecord<BanSubject> | undefined): void {
    if (record === undefined || record.until === 0) return;
    const { subject, failures, at, until } = record;
    this.#log.warn("too many failed attempts", { scope, ...subject, failures, waitMs: until - at });
  }
}

/** A subject as it is counted. */
function counted({ user, address }: BanSubject): BanSubject {
  return {
    ...(user !== undefined && { user: userKey(user) }),
    ...(address !== undefined && { address: addressGroup(address) }),
  };
}

const FREE: Attempt = { succeeded() {}, failed() {}, undecided() {} };
