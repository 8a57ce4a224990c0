import { canonicalAddress } from "../model/address.ts";

/** Subject of a ban: a user, an address (IPv6: its /64), or a user at an address. */
export interface BanSubject {
  readonly user?: string;
  readonly address?: string;
  /** Operator bans: the user's canonical DNs, which match other credentials once verified. */
  readonly names?: readonly string[];
}

export interface Ban extends BanSubject {
  /** `operator`, or failed passwords, or failed tokens and keys. */
  readonly reason: "passwords" | "tokens" | "operator";
  /** Operator bans that the database may lack; `tried`: others may have issued another one since. */
  readonly pending?: "new" | "tried";
  readonly failures: number; // 0 for operator bans
  readonly until: number; // milliseconds since the epoch
}

/** Failed logins of a user at an address. */
export interface Failure extends BanSubject {
  readonly failures: number;
  readonly at: number; // last failure, in milliseconds since the epoch
}

const MAX_USER = 256; // as in `parseCredentials`

/** Error for an impossible ban subject. */
export class InvalidBanSubject extends Error {}

/** Parses the subject of a ban. @throws {InvalidBanSubject} If it names nobody or everybody. */
export function parseBanSubject(
  { user, address }: { readonly user?: unknown; readonly address?: unknown },
): BanSubject {
  if (user === undefined && address === undefined) {
    throw new InvalidBanSubject("expected a user, an address, or both");
  }
  if (user !== undefined && (typeof user !== "string" || user === "" || user.length > MAX_USER)) {
    throw new InvalidBanSubject(`expected a user name of 1 to ${MAX_USER} characters`);
  }
  const canonical = typeof address === "string" ? canonicalAddress(address) : undefined;
  if (address !== undefined && canonical === undefined) {
    throw new InvalidBanSubject("expected an IP address such as 192.0.2.7 or 2001:db8::1");
  }
  return { user, address: canonical };
}
