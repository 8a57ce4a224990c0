import { userKey } from "../model/credentials.ts";
import type { BanSubject } from "./ban.ts";
import type { FailureTable } from "./failure_table.ts";
import type { Counted, ThrottlingMemory } from "./memory.ts";

/** Entry of a failure table that an attempt counts for, and its queue there. */
export interface FailureCounter {
  readonly counted: Counted;
  readonly scope: string; // for the log
  readonly table: FailureTable<BanSubject>;
  readonly key: string;
  readonly subject: BanSubject;
  readonly typed?: string; // user name as typed, which may be a password
  readonly queueKey: string; // queue for attempts
  readonly once?: boolean; // whether only the first failure at the previous counter counts here
}

/** Places of an attempt. */
export interface Limiter {
  readonly counters: readonly FailureCounter[];
  readonly pair: string | undefined; // key of user and address, if the credentials name a user
  readonly known: boolean;
}

/**
 * Returns the limiter for a password. @param typed User name, which may be a password.
 * @param group Prefix that keeps these pairs apart from users, each of whom adds free failures to an address.
 */
export function passwordLimiter(
  memory: ThrottlingMemory,
  typed: string,
  address: string,
  group = "",
): Limiter {
  const user = userKey(typed);
  const pair = `${group}${address}\0${user}`;
  const known = memory.known.has(pair);
  const counter = (counted: Counted, scope: string, key: string, subject: BanSubject, queueKey = "") => {
    const table = memory.tables[counted];
    return { counted, scope, table, key, subject, queueKey, typed: subject.user && typed };
  };
  const own = counter("pairs", "user at address", pair, { user, address });
  if (known) return { counters: [own], pair, known };
  const ofAddress = { ...counter("addresses", "address", address, { address }, user), once: true };
  return { counters: [own, ofAddress, counter("users", "user", user, { user }, address)], pair, known };
}

/** Returns the limiter for a token, or what an address shows of a kind. @param shown.asked Whether a provider has to verify it. */
export function tokenLimiter(
  memory: ThrottlingMemory,
  address: string,
  { claimant, asked, kind }: { readonly claimant?: string; readonly asked: boolean; readonly kind?: string },
): Limiter {
  const { tokens: table } = memory.tables;
  const shared = { counted: "tokens", table, subject: { address }, queueKey: claimant ?? "" } as const;
  if (claimant === undefined) {
    const counter = { ...shared, scope: "keys from address", key: `${kind} ${address}` };
    return { counters: [counter], pair: undefined, known: false };
  }
  const pair = `tokens ${address}\0${claimant}`;
  const known = memory.known.has(pair);
  if (known && !asked) return { counters: [], pair, known };
  const own = { ...shared, scope: "tokens of user at address", key: pair };
  const others = { ...shared, scope: "tokens from address", key: address, once: true };
  return { counters: known ? [own] : [own, others], pair, known };
}
