import { createHmac, randomBytes } from "node:crypto";
import type { Authenticator } from "../authentication/authenticator.ts";

/** Of this process: a digest of a password that was typed in the place of the name helps nobody to guess it. */
const KEY = randomBytes(32);

/**
 * A user name of a login that failed, for log and audit stream: the name itself if it is one of ours, else a short digest,
 * by which attempts with the same name can be told to be that. What is no user's name may be somebody's password.
 */
export function claimedName(user: string, authenticators: readonly Pick<Authenticator, "lists">[]): string {
  if (authenticators.some((authenticator) => authenticator.lists?.(user))) return user;
  return `unknown-${createHmac("sha256", KEY).update(user).digest("hex").slice(0, 8)}`;
}
