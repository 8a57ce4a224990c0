import { userKey } from "../model/credentials.ts";
import type { BanSubject } from "./ban.ts";
import type { FailureTable } from "./failure_table.ts";
import type { Counted, ThrottlingMemory } from "./memory.ts";

/** Failures that count for an attempt, and the queue of its table. */
export interface Place {
  readonly counted: Counted;
  readonly scope: string; // for the log
  readonly table: FailureTable<BanSubject>;
  readonly key: string;
  readonly subject: BanSubject;
  readonly typed?: string; // user name as typed, which may be a password
  readonly queueKey: string; // queue for attempts
}

/** Places of an attempt. */
export interface Limiter {
  readonly places: readonly Place[];
  readonly pair: string | undefined; // key of user and address, if the credentials name a user
  readonly known: boolean;
}

/**
 * Returns the limiter for a password. @param typed User name, which may be a password.
 * @param group Prefix that keeps pairs apart from users, who add free failures of their address.
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
  const place = (counted: Counted, scope: string, key: string, subject: BanSubject, queueKey = "") => ({
    ...{ counted, scope, table: memory.tables[counted], key, subject, queueKey },
    typed: subject.user && typed,
  });
  const own = place("pairs", "user at address", pair, { user, address });
  const others = [
    place("addresses", "address", address, { address }, user),
    place("users", "user", user, { user }, address),
  ];
  return { places: known ? [own] : [own, ...others], pair, known };
}

/** Returns the limiter for a token or key. @param shown.asked Whether a provider has to verify it. */
export function tokenLimiter(
  memory: ThrottlingMemory,
  address: string,
  { claimant, asked }: { readonly claimant: string | undefined; readonly asked: boolean },
): Limiter {
  const pair = claimant === undefined ? undefined : `tokens ${address}\0${claimant}`;
  const known = pair !== undefined && memory.known.has(pair);
  if (known && !asked) return { places: [], pair, known };
  const place: Place = {
    counted: "tokens",
    scope: known ? "tokens of user at address" : "tokens from address",
    table: memory.tables.tokens,
    key: known ? pair : address,
    subject: { address },
    queueKey: claimant ?? "",
  };
  return { places: [place], pair, known };
}
