import { canonicalAddress } from "../model/address.ts";

/** Whom a ban concerns: a user, an address (IPv6: its /64), or a user at an address. */
export interface BanSubject {
  readonly user?: string;
  readonly address?: string;
  /** Of a ban by hand: the user's names in canonical DN, by which other credentials name them once verified. */
  readonly names?: readonly string[];
}

/** Somebody who has to wait. */
export interface Ban extends BanSubject {
  /** `operator`: imposed by hand; else by failed passwords, or failed tokens and keys. */
  readonly reason: "passwords" | "tokens" | "operator";
  /** Of a ban by hand: other instances of the service are still to be told of it. Default false. */
  readonly pending?: boolean;
  /** Failures counted; 0 for bans by hand. */
  readonly failures: number;
  /** Milliseconds since the epoch. */
  readonly until: number;
}

/** Logins of a user at an address that failed. */
export interface Failure extends BanSubject {
  /** How many. */
  readonly failures: number;
  /** The last one, in milliseconds since the epoch. */
  readonly at: number;
}

/** Longest user name, as `parseCredentials` has it. */
const MAX_USER = 256;

/** What is nobody who could be banned; the message says why. */
export class InvalidBanSubject extends Error {
  override readonly name = "InvalidBanSubject";
}

/** Whom a ban is about. @throws {InvalidBanSubject} If it is nobody, or everybody. */
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
