import type { BanSubject } from "./ban.ts";
import type { FailureTable } from "./failure_table.ts";
import type { Counted, ThrottlingMemory } from "./memory.ts";
import { userKey } from "./user_key.ts";

/** A subject in a table where it is counted. */
export interface Place {
  readonly counted: Counted;
  /** For the log. */
  readonly scope: string;
  readonly table: FailureTable<BanSubject>;
  readonly key: string;
  readonly subject: BanSubject;
  /** The user's name as it was typed, which may be somebody's password. */
  readonly typed?: string;
  /** In which those wait who want an attempt here. */
  readonly queueKey: string;
}

/** What an attempt counts in while it is under way, and afterwards if it failed. */
export interface Limiter {
  readonly places: readonly Place[];
  /** Key of the user at the address, if the credentials name one. */
  readonly pair: string | undefined;
  readonly known: boolean;
}

/** Returns the gate for a name with a password. */
export function passwordLimiter(memory: ThrottlingMemory, typed: string, address: string): Limiter {
  const user = userKey(typed);
  const pair = `${address}\0${user}`;
  const known = memory.known.has(pair);
  const { pairs, addresses, users } = memory.tables;
  const own: Place = {
    counted: "pairs",
    scope: "user at address",
    table: pairs,
    key: pair,
    subject: { user, address },
    typed,
    queueKey: "",
  };
  const others: Place[] = [
    {
      counted: "addresses",
      scope: "address",
      table: addresses,
      key: address,
      subject: { address },
      queueKey: user,
    },
    { counted: "users", scope: "user", table: users, key: user, subject: { user }, typed, queueKey: address },
  ];
  return { places: known ? [own] : [own, ...others], pair, known };
}

/**
 * Of a token or a key.
 * @param shown.claimant The same for all of one user; absent if it names none.
 * @param shown.asked Whether somebody else has to be asked about it.
 */
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
