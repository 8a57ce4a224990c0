import type { ThrottlingConfig } from "../config/service_config.ts";
import { addressGroup } from "../model/address_group.ts";
import type { Clock } from "../model/clock.ts";
import type { Ban, BanSubject, Failure } from "./ban.ts";
import { FailureTable } from "./failure_table.ts";
import { OperatorBans } from "./operator_bans.ts";
import { KnownClients } from "./known_clients.ts";
import type { ThrottlingNews, ThrottlingState } from "./throttling_state.ts";
import { userKey } from "./user_key.ts";

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
/** How long a user is known at an address after a right password, in milliseconds. */
export const KNOWN_MS = 24 * 60 * 60_000;
/**
 * Attempts of a user at an address that may be under way at once, so that nobody gets many guesses by making them
 * before the first is counted. A check that needs no waiting is over before the next request is looked at.
 */
const UNDER_WAY = 32;

/** What failures are counted by: user at address, address, user; and those of tokens and keys. */
const COUNTED = ["pairs", "addresses", "users", "tokens"] as const;
/** One of them. */
export type Counted = typeof COUNTED[number];

/** What a login throttle's memory is made with. */
export interface MemoryParts {
  readonly config: ThrottlingConfig;
  /** For durations: goes on evenly, see `steadyClock`. */
  readonly steady: Clock;
  /** Of the machine, for moments that people give and read; default: the same. */
  readonly clock?: Clock;
  readonly capacity?: number;
  /** How many instances of the service count failures together, this one included; default 1. */
  readonly clusterMembers?: () => number;
}

/** What is known of failures, of users who passed, and of bans by hand; it admits nobody and keeps nobody out. */
export class ThrottlingMemory {
  readonly tables: Readonly<Record<Counted, FailureTable<BanSubject>>>;
  /** Users at addresses who passed not long ago. */
  readonly known: KnownClients;
  readonly operator: OperatorBans;
  readonly steady: Clock;
  readonly #clock: Clock;

  constructor({ config, steady, clock = steady, capacity = CAPACITY, clusterMembers }: MemoryParts) {
    this.steady = steady;
    this.#clock = clock;
    const baseMs = config.baseDelaySeconds * 1000;
    const maxMs = config.maxDelaySeconds * 1000;
    const windowMs = config.windowSeconds * 1000;
    const table = (spread: number, longestMs: number, extraFree?: (key: string) => number) => {
      const free = config.maxFailures * spread;
      const underWay = UNDER_WAY * spread;
      const policy = { free, baseMs, maxMs: Math.min(maxMs, longestMs), windowMs, underWay };
      return new FailureTable<BanSubject>({ policy, capacity, elapsed: steady, extraFree, clusterMembers });
    };
    this.known = new KnownClients({ lifetimeMs: KNOWN_MS, capacity, elapsed: steady });
    this.tables = {
      pairs: table(1, maxMs),
      addresses: table(SPREAD, maxMs, (address) => this.known.countOf(address)),
      users: table(SPREAD, MAX_COLLATERAL_MS),
      tokens: table(TOKEN_SPREAD, MAX_COLLATERAL_MS),
    };
    this.operator = new OperatorBans(steady);
  }

  /** Everybody who has to wait at the moment, until when by the clock of the machine. @param most At most so many. */
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

  /** Failed logins that still count, those of users at addresses: who has to wait first, then the latest. @param most At most so many. */
  failures(most: number): Failure[] {
    const ahead = this.#clock() - this.steady();
    return this.tables.pairs.entries(most).map(([, { subject, failures, at }]) => ({
      ...subject,
      failures,
      at: at + ahead,
    }));
  }

  /** How many these are, by reason. No list is made of them: whoever has many addresses can fill the tables. */
  banCounts(): Readonly<Record<Ban["reason"], number>> {
    const { pairs, addresses, users, tokens } = this.tables;
    return {
      passwords: pairs.waitingCount + addresses.waitingCount + users.waitingCount,
      tokens: tokens.waitingCount,
      operator: this.operator.list().length,
    };
  }

  /**
   * Bans by hand, until a moment in milliseconds since the epoch; as long as it is until then now, whatever becomes of the
   * clock of the machine. An address is kept out with whatever it shows; a user
   * with passwords before anybody looks at them, and with all else as soon as it has named them.
   * @param pending See {@link Ban}.
   */
  ban(subject: BanSubject, until: number, pending?: boolean): void {
    const counted = { ...asCounted(subject), names: subject.names };
    this.operator.add(counted, until - this.#clock() + this.steady(), pending);
  }

  /** Lists the bans by hand of exactly this subject. */
  operatorBansOf(subject: BanSubject): readonly Ban[] {
    const { user, address } = asCounted(subject);
    return this.operator.list().filter((ban) => ban.user === user && ban.address === address);
  }

  /**
   * Ends all waits, and forgets all failures, that concern a user, an address, or a user at an address.
   * @returns How many were there.
   */
  lift(whom: BanSubject): number {
    return this.operator.remove(concerning(asCounted(whom))) + this.forget(whom);
  }

  /** As {@link lift}, for failures alone: bans by hand stay. */
  forget(whom: BanSubject): number {
    const matches = concerning(asCounted(whom));
    return COUNTED.reduce((sum, counted) => sum + this.tables[counted].forgetWhere(matches), 0);
  }

  /** What a successor has to know. */
  state(): ThrottlingState {
    const { pairs, addresses, users, tokens } = this.tables;
    return {
      asOf: this.steady(),
      pairs: pairs.entries(HANDED_OVER),
      addresses: addresses.entries(HANDED_OVER),
      users: users.entries(HANDED_OVER),
      tokens: tokens.entries(HANDED_OVER),
      known: this.known.entries(HANDED_OVER),
      operator: this.operator.list(),
    };
  }

  /** Takes over what a predecessor knew. Waits that run go on, also if the configuration makes shorter ones now. */
  adopt(
    { asOf, cleared = [], known = [], operator = [], allBans, lifted = [], ...news }: ThrottlingNews,
  ): void {
    const later = this.steady() - asOf;
    const bansMoved = (bans: readonly Ban[]) => bans.map((ban) => ({ ...ban, until: ban.until + later }));
    for (const subject of lifted) this.lift(subject);
    if (allBans !== undefined) this.operator.replace(bansMoved(allBans));
    const moved = (records: ThrottlingState["pairs"]) =>
      records.map(([key, record]) =>
        [key, { ...record, at: record.at + later, until: record.until + later }] as const
      );
    for (const pair of cleared) this.tables.pairs.forget(pair);
    for (const counted of COUNTED) this.tables[counted].adopt(moved(news[counted] ?? []));
    this.known.adopt(known.map(([key, at]) => [key, at + later] as const));
    this.operator.adopt(bansMoved(operator));
  }
}

function concerning({ user, address }: BanSubject): (subject: BanSubject) => boolean {
  return (subject) =>
    (user === undefined || subject.user === user) && (address === undefined || subject.address === address);
}

/** A subject as it is counted. */
export function asCounted({ user, address }: BanSubject): BanSubject {
  return { user: user && userKey(user), address: address && addressGroup(address) };
}
