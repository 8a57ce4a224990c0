import type { Ban, BanSubject, Failure } from "./ban.ts";
import { type FailureRecord, FailureTable } from "./failure_table.ts";
import type { ThrottlingConfig } from "../config/service_config.ts";
import { addressGroup } from "../model/address.ts";
import type { Clock, Stopwatch } from "../model/clock.ts";
import { userKey } from "../model/credentials.ts";
import { OperatorBans } from "./operator_bans.ts";

type Records = readonly (readonly [key: string, record: FailureRecord<BanSubject>])[];

/** Plain state of a login throttle for a successor, so that a reload ends no wait. */
interface ThrottlingState extends Readonly<Record<Counted, Records>> {
  readonly asOf: number; // reference for its times, by the throttle's clock
  /** Users at addresses, with the time of their last right password. */
  readonly known: readonly (readonly [key: string, at: number])[];
  readonly operator: readonly Ban[];
}

/** Incremental update of the state, to be adopted in order. */
export interface ThrottlingUpdate extends Partial<Omit<ThrottlingState, "asOf">> {
  readonly asOf: number;
  readonly allBans?: readonly Ban[]; // replaces all bans; those of `operator` are added
  readonly lifted?: readonly BanSubject[]; // subjects whose failures an operator cleared
  readonly cleared?: readonly string[]; // `pairs` and `tokens` cleared by a right credential
}

const MAX_RECORDS = 50_000; // records per table; about 20 MB with the longest names
const MAX_STATE_RECORDS = 10_000; // records per table for a successor: some 10 MB, and 50 ms to copy
const SHARED_FACTOR = 4; // factor on free failures: an address may have many users, a user many addresses
/** Tokens and keys cannot be guessed; failures mean broken clients that cause work elsewhere. */
const TOKEN_FACTOR = 20;
/** Longest wait that unknown clients can impose on a user elsewhere, or on an address's tokens. */
const MAX_COLLATERAL_MS = 60_000;
/** How long a right password makes a user known at an address. */
export const KNOWN_MS = 24 * 60 * 60_000;
/** Concurrent attempts of a user at an address; limits guesses made before the first is counted. */
const MAX_IN_FLIGHT = 32;

/** Counted subjects: user at address, address, user; and tokens and keys. */
const COUNTED = ["pairs", "addresses", "users", "tokens"] as const;
export type Counted = typeof COUNTED[number];

export interface MemoryParts {
  readonly config: ThrottlingConfig;
  readonly steady: Clock; // for durations, see `steadyClock`
  readonly clock?: Clock; // for times that people write and read. Default: the same.
  readonly capacity?: number;
  readonly clusterMembers?: () => number; // instances that count together, this one included. Default: 1.
}

/** Failures, known users and operator bans. */
export class ThrottlingMemory {
  readonly tables: Readonly<Record<Counted, FailureTable<BanSubject>>>;
  readonly known: KnownClients;
  readonly operator: OperatorBans;
  readonly steady: Clock;
  readonly #clock: Clock;

  constructor({ config, steady, clock = steady, capacity = MAX_RECORDS, clusterMembers }: MemoryParts) {
    this.steady = steady;
    this.#clock = clock;
    const baseMs = config.baseDelaySeconds * 1000;
    const maxMs = config.maxDelaySeconds * 1000;
    const windowMs = config.windowSeconds * 1000;
    const table = (spread: number, longestMs: number, extraFree?: (key: string) => number) => {
      const free = config.maxFailures * spread;
      const maxInFlight = MAX_IN_FLIGHT * spread;
      const policy = { free, baseMs, maxMs: Math.min(maxMs, longestMs), windowMs, maxInFlight };
      return new FailureTable<BanSubject>({ policy, capacity, elapsed: steady, extraFree, clusterMembers });
    };
    this.known = new KnownClients(KNOWN_MS, capacity, steady);
    this.tables = {
      pairs: table(1, maxMs),
      addresses: table(SHARED_FACTOR, maxMs, (address) => this.known.countOf(address)),
      users: table(SHARED_FACTOR, MAX_COLLATERAL_MS),
      tokens: table(TOKEN_FACTOR, MAX_COLLATERAL_MS),
    };
    this.operator = new OperatorBans(steady);
  }

  /** Returns up to `most` running waits and bans, by the host's clock. */
  bans(most = Infinity): Ban[] {
    const ahead = this.#clock() - this.steady();
    const found: Ban[] = this.operator.list().slice(0, most);
    for (const counted of COUNTED) {
      const reason = counted === "tokens" ? "tokens" : "passwords";
      for (const { subject, failures, until } of this.tables[counted].waiting(most - found.length)) {
        found.push({ ...subject, reason, failures, until });
      }
    }
    return found.map((ban) => ({ ...ban, until: ban.until + ahead }));
  }

  /** Returns up to `most` failures of users at addresses: running waits first, then the latest. */
  failures(most: number): Failure[] {
    const ahead = this.#clock() - this.steady();
    const records = this.tables.pairs.entries(most);
    return records.map(([, { subject, failures, at }]) => ({ ...subject, failures, at: at + ahead }));
  }

  /** Counts bans by reason without a list, since attackers can fill the tables. */
  banCounts(): Readonly<Record<Ban["reason"], number>> {
    const { pairs, addresses, users, tokens } = this.tables;
    return {
      passwords: pairs.waitingCount + addresses.waitingCount + users.waitingCount,
      tokens: tokens.waitingCount,
      operator: this.operator.list().length,
    };
  }

  /**
   * Bans until a moment in milliseconds since the epoch, for the remaining duration even if the host's clock changes.
   * Applies to an address with any credentials, to a user before a password is checked, otherwise once identified.
   * @param pending See {@link Ban}.
   */
  ban(subject: BanSubject, until: number, pending?: Ban["pending"]): void {
    const counted = { ...normalised(subject), names: subject.names };
    this.operator.add(counted, until - this.#clock() + this.steady(), pending);
  }

  operatorBansOf(subject: BanSubject): readonly Ban[] {
    const { user, address } = normalised(subject);
    return this.operator.list().filter((ban) => ban.user === user && ban.address === address);
  }

  /** Clears waits, bans and failures of a user, an address, or a user at an address. Returns their number. */
  lift(whom: BanSubject): number {
    return this.operator.remove(matcherOf(normalised(whom))) + this.forget(whom);
  }

  /** Clears failures like {@link lift}, but no operator bans. */
  forget(whom: BanSubject): number {
    const matches = matcherOf(normalised(whom));
    return COUNTED.reduce((sum, counted) => sum + this.tables[counted].forgetWhere(matches), 0);
  }

  state(): ThrottlingState {
    const { pairs, addresses, users, tokens } = this.tables;
    return {
      asOf: this.steady(),
      pairs: pairs.entries(MAX_STATE_RECORDS),
      addresses: addresses.entries(MAX_STATE_RECORDS),
      users: users.entries(MAX_STATE_RECORDS),
      tokens: tokens.entries(MAX_STATE_RECORDS),
      known: this.known.entries(MAX_STATE_RECORDS),
      operator: this.operator.list(),
    };
  }

  /** Forgets earlier failures of a user at an address, of passwords and of tokens. @returns Whether there were any. */
  forgetPair(pair: string, before = Infinity): boolean {
    const { pairs, tokens } = this.tables;
    return [pairs, tokens].map((table) => table.forgetBefore(pair, before)).includes(true);
  }

  /** Adopts a predecessor's state. Running waits continue even if the configuration shortens new ones. */
  adopt(
    { asOf, cleared = [], known = [], operator = [], allBans, lifted = [], ...update }: ThrottlingUpdate,
  ): void {
    const later = this.steady() - asOf;
    const bansMoved = (bans: readonly Ban[]) => bans.map((ban) => ({ ...ban, until: ban.until + later }));
    for (const subject of lifted) this.lift(subject);
    if (allBans !== undefined) this.operator.replace(bansMoved(allBans));
    const moved = (records: ThrottlingState["pairs"]) =>
      records.map(([key, record]) =>
        [key, { ...record, at: record.at + later, until: record.until + later }] as const
      );
    for (const pair of cleared) this.forgetPair(pair);
    for (const counted of COUNTED) this.tables[counted].adopt(moved(update[counted] ?? []));
    this.known.adopt(known.map(([key, at]) => [key, at + later] as const));
    this.operator.adopt(bansMoved(operator));
  }
}

function matcherOf({ user, address }: BanSubject): (subject: BanSubject) => boolean {
  return (subject) =>
    (user === undefined || subject.user === user) && (address === undefined || subject.address === address);
}

/** Normalises a subject for counting. */
export function normalised({ user, address }: BanSubject): BanSubject {
  return { user: user && userKey(user), address: address && addressGroup(address) };
}

const SIGHTING_STEP = 1 / 1000; // part of the lifetime within which repeated sightings count once
const MAX_SHARE = 1 / 10; // part of the capacity for the keys of one group or user, which evict no others

/**
 * Bounded set of recently seen keys; evicts the one seen longest ago. The text before a key's first NUL is its group, such as
 * an address; the rest is its user.
 */
export class KnownClients {
  readonly #seen = new Map<string, number>();
  #latest = 0;
  readonly #counts = new Map<string, number>(); // keys by group, and by user

  constructor(readonly lifetimeMs: number, readonly capacity: number, readonly elapsed: Stopwatch) {}

  has(key: string): boolean {
    const at = this.#seen.get(key);
    return at !== undefined && at + this.lifetimeMs > this.elapsed();
  }

  /** Number of keys in a group, including some expired ones. */
  countOf(group: string): number {
    return this.#counts.get(group) ?? 0;
  }

  /** Returns the time, unless the key was seen recently. */
  add(key: string): number | undefined {
    const now = this.elapsed();
    this.#forgetOldest((at) => at + this.lifetimeMs <= now);
    return this.record(key, now) ? now : undefined;
  }

  /** Records a sighting elsewhere. Returns whether it is new. */
  record(key: string, at: number): boolean {
    if (at - (this.#seen.get(key) ?? -Infinity) < this.lifetimeMs * SIGHTING_STEP) return false;
    this.#put(key, at);
    return true;
  }

  /** Returns up to `most` keys with their last sighting, latest first. */
  entries(most: number): [string, number][] {
    return [...this.#seen].reverse().slice(0, most);
  }

  /** Merges entries, latest first; the later time of a key wins. */
  adopt(entries: readonly (readonly [string, number])[]): void {
    const others = [...entries].reverse();
    const isNewer = others.every(([, at]) => at >= this.#latest);
    const own = isNewer ? [] : [...this.#seen];
    for (const [key, at] of [...others, ...own]) this.#put(key, Math.max(at, this.#seen.get(key) ?? 0));
  }

  #put(key: string, at: number): void {
    if (!this.#seen.delete(key)) {
      const parts = partsOf(key);
      if (parts.some((part) => this.countOf(part) >= this.capacity * MAX_SHARE)) return;
      for (const part of parts) this.#counts.set(part, this.countOf(part) + 1);
    }
    this.#seen.set(key, at);
    this.#latest = Math.max(this.#latest, at);
    if (this.#seen.size > this.capacity) this.#forgetOldest(() => true);
  }

  #forgetOldest(matches: (at: number) => boolean): void {
    const [oldest] = this.#seen;
    if (oldest === undefined || !matches(oldest[1])) return;
    const [key] = oldest;
    this.#seen.delete(key);
    for (const part of partsOf(key)) {
      const others = this.countOf(part) - 1;
      if (others > 0) this.#counts.set(part, others);
      else this.#counts.delete(part);
    }
  }
}

function partsOf(key: string): readonly string[] {
  const end = Math.max(0, key.indexOf("\0"));
  return [key.slice(0, end), key.slice(end)];
}
