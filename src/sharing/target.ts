import { isUserAccount } from "../model/account_name.ts";
import { canonicalDn, InvalidName } from "../model/distinguished_name.ts";

/** Target of shares for everybody: the anonymous caller's canonical DN. */
export const EVERYBODY = "cn=anonymous,o=unknown,ou=unknown";

/** Prefix of Unix groups; a canonical DN never has a colon in its first attribute name. */
export const GROUP_PREFIX = "group:";

/** Returns the target for a Unix group. */
export function groupTarget(group: string): string {
  return GROUP_PREFIX + group;
}

/** Returns the Unix group of a target; undefined for users and everybody. */
export function groupOf(target: string): string | undefined {
  return target.startsWith(GROUP_PREFIX) ? target.slice(GROUP_PREFIX.length) : undefined;
}

/** Expected input of {@link parseTarget}, for diagnostics. */
export const EXPECTED_TARGET = "expected a distinguished name, or group: and an unprivileged Unix group";

/**
 * Parses a target: a distinguished name in any spelling, everybody, or `group:` with a case-sensitive Unix group.
 * @throws {InvalidName} For other names and privileged groups.
 */
export function parseTarget(text: string): string {
  const given = text.trim();
  if (given.slice(0, GROUP_PREFIX.length).toLowerCase() !== GROUP_PREFIX) return canonicalDn(text);
  const group = given.slice(GROUP_PREFIX.length);
  if (isUserAccount(group)) return groupTarget(group);
  throw new InvalidName("expected the name of an unprivileged Unix group", GROUP_PREFIX.length + 1);
}

/** Ranks targets: a user before a group, a group before everybody. */
export function exactness(target: string): number {
  if (target === EVERYBODY) return 0;
  return groupOf(target) === undefined ? 2 : 1;
}
