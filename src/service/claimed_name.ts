import { createHmac, randomBytes } from "node:crypto";
import type { Authenticator } from "../authentication/authenticator.ts";

/** Random per process, so that the digest of a password typed as user name is useless to others. */
const KEY = randomBytes(32);

/**
 * Returns a user name for the logs: a known name itself, else a short digest, since it may be a password in the wrong field.
 * Equal names have equal digests.
 */
export function claimedName(user: string, authenticators: readonly Pick<Authenticator, "lists">[]): string {
  if (authenticators.some((authenticator) => authenticator.lists?.(user))) return user;
  return `unknown-${createHmac("sha256", KEY).update(user).digest("hex").slice(0, 8)}`;
}
