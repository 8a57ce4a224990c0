import type { RegulationConfig } from "../config/service_config.ts";
import type { Logger } from "../logging/logger.ts";
import { addressGroup } from "../model/address_group.ts";
import type { Clock } from "../model/clock.ts";
import { comparableForm } from "../model/distinguished_name.ts";
import type { Identity } from "../model/identity.ts";
import type { BearerRoute, Credentials } from "../model/credentials.ts";
import { refuse } from "../model/service_error.ts";
import type { Ban, BanSubject } from "./ban.ts";
import { type FailureRecord, FailureTable } from "./failure_table.ts";
import { OperatorBans } from "./operator_bans.ts";
import { RecentKeys } from "./recent_keys.ts";
import type { RegulationNews, RegulationState } from "./regulation_state.ts";
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
  /** In which those wait who want an attempt here. */
  readonly lane: string;
}

/** What an attempt counts in while it is under way, and afterwards if it failed. */
interface Gate {
  readonly places: readonly Place[];
  /** Key of the user at the address, if the credentials name one. */
  readonly pair: string | undefined;
  readonly known: boolean;
}

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
export class Regulator {
  readonly #now: Clock;
  readonly #clock: Clock;
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
    { config, log, now, clock = now, capacity = CAPACITY, patienceMs = PATIENCE_MS, learned = () => {} }: {
      config: RegulationConfig;
      log: Logger;
      /** For durations: goes on evenly, see `steadyClock`. */
      now: Clock;
      /** Of the machine, for moments that people give and read. */
      clock?: Clock;
      capacity?: number;
      patienceMs?: number;
      /** Told of each failure that counts, and of each success that changes something, before its caller knows of it. */
      learned?: (news: RegulationNews) => void;
    },
  ) {
    this.#now = now;
    this.#clock = clock;
    this.#patienceMs = patienceMs;
    this.#learned = learned;
    this.#log = log;
    this.#enabled = config.enabled;
    const baseMs = config.baseDelaySeconds * 1000;
    const maxMs = config.maxDelaySeconds * 1000;
    const windowMs = config.windowSeconds * 1000;
    const table = (spread: number, longestMs: number, extraFree?: (key: string) => number) => {
      const free = config.maxFailures * spread;
      const policy = {
        free,
        baseMs,
        maxMs: Math.min(maxMs, longestMs),
        windowMs,
        underWay: UNDER_WAY * spread,
      };
      return new FailureTable<BanSubject>({ policy, capacity, now, ...(extraFree && { extraFree }) });
    };
    this.#pairs = table(1, maxMs);
    this.#addresses = table(SPREAD, maxMs, (address) => this.#known.countOf(address));
    this.#users = table(SPREAD, MAX_COLLATERAL_MS);
    this.#tokens = table(TOKEN_SPREAD, MAX_COLLATERAL_MS);
    this.#known = new RecentKeys({ lifetimeMs: KNOWN_MS, capacity, now });
    this.#operator = new OperatorBans(now);
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
        const user = userKey(authorization.user);
        this.#operator.admit({ users: [user], address });
        return this.#enter(this.#passwordGate(user, address), signal);
      }
      case "bearer":
        return this.#enter(this.#tokenGate(address, authorization.route, authorization.claimant), signal);
      case "ssh-legacy": {
        const user = userKey(authorization.user);
        this.#operator.admit({ users: [user], address });
        return this.#enter(this.#tokenGate(address, "ssh-key", user), signal);
      }
    }
  }

  /**
   * Asks whether an address may have anything at all.
   * @throws {ERR_TOO_MANY_FAILURES} 429, if the operator has banned it.
   */
  admitAddress(clientAddress: string): void {
    this.#operator.admit({ users: [], address: addressGroup(clientAddress) });
  }

  /**
   * Asks whether a caller may pass who is known by now, whatever they have shown.
   * @throws {ERR_TOO_MANY_FAILURES} 429, if the operator has banned the user.
   */
  admitCaller({ dn, login, uid }: Identity, clientAddress: string): void {
    if (this.#operator.list().length === 0) return;
    const users = [login, uid].flatMap((user) => user === undefined ? [] : [userKey(user)]);
    this.#operator.admit({ users, name: comparableForm(dn), address: addressGroup(clientAddress) });
  }

  /** Everybody who has to wait at the moment, until when by the clock of the machine. */
  bans(): Ban[] {
    const ahead = this.#clock() - this.#now();
    const found = (table: FailureTable<BanSubject>, reason: Ban["reason"]) =>
      table.waiting().map(({ subject, failures, until }) => ({ ...subject, reason, failures, until }));
    const bans = [
      ...this.#operator.list(),
      ...found(this.#pairs, "passwords"),
      ...found(this.#addresses, "passwords"),
      ...found(this.#users, "passwords"),
      ...found(this.#tokens, "tokens"),
    ];
    return bans.map((ban) => ({ ...ban, until: ban.until + ahead }));
  }

  /**
   * Bans by hand, until a moment in milliseconds since the epoch; as long as it is until then now, whatever becomes of the
   * clock of the machine. An address is kept out with whatever it shows; a user
   * with passwords before anybody looks at them, and with all else as soon as it has named them.
   */
  ban(subject: BanSubject, until: number): void {
    const { names } = subject;
    const banned = { ...counted(subject), ...(names !== undefined && { names }) };
    this.#operator.add(banned, until - this.#clock() + this.#now());
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
      asOf: this.#now(),
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
    { asOf, cleared = [], pairs = [], addresses = [], users = [], tokens = [], known, operator = [] }:
      RegulationNews,
  ): void {
    const later = this.#now() - asOf;
    const moved = (records: RegulationState["pairs"]) =>
      later === 0 ? records : records.map(([key, record]) =>
        [key, {
          ...record,
          at: record.at + later,
          until: record.until === 0 ? 0 : record.until + later,
        }] as const
      );
    for (const pair of cleared) this.#pairs.forget(pair);
    this.#pairs.adopt(moved(pairs));
    this.#addresses.adopt(moved(addresses));
    this.#users.adopt(moved(users));
    this.#tokens.adopt(moved(tokens));
    if (known !== undefined) this.#known.adopt(known.map(([key, at]) => [key, at + later] as const));
    this.#operator.adopt(operator.map((ban) => ({ ...ban, until: ban.until + later })));
  }

  #passwordGate(user: string, address: string): Gate {
    const pair = `${address}\0${user}`;
    const known = this.#known.has(pair);
    if (!this.#enabled) return { places: [], pair, known };
    const own: Place = {
      counted: "pairs",
      scope: "user at address",
      table: this.#pairs,
      key: pair,
      subject: { user, address },
      lane: "",
    };
    return {
      places: known ? [own] : [
        own,
        {
          counted: "addresses",
          scope: "address",
          table: this.#addresses,
          key: address,
          subject: { address },
          lane: user,
        },
        { counted: "users", scope: "user", table: this.#users, key: user, subject: { user }, lane: address },
      ],
      pair,
      known,
    };
  }

  #tokenGate(address: string, route: BearerRoute, claimant: string | undefined): Gate {
    const pair = claimant === undefined ? undefined : `tokens ${address}\0${claimant}`;
    const known = pair !== undefined && this.#known.has(pair);
    if (!this.#enabled || (known && route !== "provider")) return { places: [], pair, known };
    const scope = known ? "tokens of user at address" : "tokens from address";
    const key = known ? pair : address;
    return {
      places: [{
        counted: "tokens",
        scope,
        table: this.#tokens,
        key,
        subject: { address },
        lane: claimant ?? "",
      }],
      pair,
      known,
    };
  }

  /**
   * @returns A place with too many attempts under way, if there is one.
   * @throws {ERR_TOO_MANY_FAILURES} With the longest wait, if there is any.
   */
  #judge({ places, known }: Gate): Place | undefined {
    let longest = { waitMs: 0, scope: "" };
    let crowded: Place | undefined;
    for (const place of places) {
      const { waitMs, full } = place.table.standing(place.key, { ownOnly: known });
      if (waitMs > longest.waitMs) longest = { waitMs, scope: place.scope };
      if (full) crowded ??= place;
    }
    if (longest.waitMs > 0) throw tooManyFailures(longest.waitMs, longest.scope);
    return crowded;
  }

  #enter(gate: Gate, signal: AbortSignal | undefined): Attempt | Promise<Attempt> {
    const crowded = this.#judge(gate);
    return crowded === undefined ? this.#begin(gate) : this.#inTurn(gate, crowded, signal);
  }

  /** Waits as long as others are in the way; judged anew each time that one of them has ended. */
  #inTurn(gate: Gate, crowded: Place, signal: AbortSignal | undefined): Promise<Attempt> {
    const until = performance.now() + this.#patienceMs;
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const decide = (late: boolean) => {
        try {
          const next = this.#judge(gate);
          if (next === undefined) resolve(this.#begin(gate));
          else if (late) reject(crowd());
          else queue(next);
        } catch (error) {
          reject(error);
        }
      };
      const queue = ({ table, key, lane }: Place) => {
        const joined = table.queue(key, {
          lane,
          patienceMs: until - performance.now(),
          ...(signal && { signal }),
          called: () => decide(false),
          left: (why) => why === "aborted" ? reject(signal?.reason) : decide(true),
        });
        if (!joined) reject(crowd());
      };
      queue(crowded);
    });
  }

  /** An attempt under way. It ends once, however often it is told so. */
  #begin({ places, pair, known }: Gate): Attempt {
    for (const { table, key } of places) table.enter(key);
    let ended = false;
    const end = (outcome: "succeeded" | "failed" | "undecided") => {
      if (ended) return;
      ended = true;
      if (outcome === "succeeded" && pair !== undefined) this.#succeeded(pair);
      if (outcome === "failed") this.#failed(places);
      for (const { table, key } of places) table.leave(key);
    };
    return {
      ...(known && { knownAs: pair }),
      succeeded: () => end("succeeded"),
      failed: () => end("failed"),
      undecided: () => end("undecided"),
    };
  }

  #succeeded(pair: string): void {
    const cleared = this.#pairs.forget(pair);
    const at = this.#known.add(pair);
    if (cleared || at !== undefined) {
      this.#learned({ asOf: this.#now(), cleared: [pair], ...(at !== undefined && { known: [[pair, at]] }) });
    }
  }

  #failed(places: readonly Place[]): void {
    const news: { [T in Counted]?: [string, FailureRecord<BanSubject>][] } = {};
    let isNewName = true;
    for (const { counted, scope, table, key, subject } of places) {
      if (counted === "addresses" && !isNewName) continue;
      const record = table.fail(key, subject);
      if (counted === "pairs" && record !== undefined) isNewName = record.failures === 1;
      this.#tell(scope, record);
      if (record !== undefined) news[counted] = [[key, record]];
    }
    this.#learned({ asOf: this.#now(), ...news });
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

/** No turn came. */
const crowd = () => refuse("ERR_TOO_MANY_AT_ONCE", "too many logins of the user or from the address at once");
