import { isUserAccount } from "../model/account_name.ts";
import { canonicalDn, InvalidName } from "../model/distinguished_name.ts";

/** The target of a share for everybody: the anonymous caller's name, in canonical DN. */
export const EVERYBODY = "cn=anonymous,o=unknown,ou=unknown";

/** What a target begins with that is a Unix group. No name's canonical DN does: a colon is in no attribute's name. */
export const GROUP_PREFIX = "group:";

/** The target of a share for the members of a Unix group on its server. */
export function groupTarget(group: string): string {
  return GROUP_PREFIX + group;
}

/** The Unix group that a target is; undefined for a user, and for everybody. */
export function groupOf(target: string): string | undefined {
  return target.startsWith(GROUP_PREFIX) ? target.slice(GROUP_PREFIX.length) : undefined;
}

/** What {@link parseTarget} takes, for whoever gave it something else. */
export const EXPECTED_TARGET = "expected a distinguished name, or group: and an unprivileged Unix group";

/**
 * For whom a share is, as it is stored and compared: a user's name in canonical DN, everybody's, or `group:` and the name
 * of a Unix group, in which case counts.
 * @param text In any spelling.
 * @throws {InvalidName} Neither a distinguished name nor an unprivileged group.
 */
export function parseTarget(text: string): string {
  const given = text.trim();
  if (given.slice(0, GROUP_PREFIX.length).toLowerCase() !== GROUP_PREFIX) return canonicalDn(text);
  const group = given.slice(GROUP_PREFIX.length);
  if (isUserAccount(group)) return groupTarget(group);
  throw new InvalidName("expected the name of an unprivileged Unix group", GROUP_PREFIX.length + 1);
}

/** How exactly a target names the caller for whom it is: a user before a group, a group before everybody. */
export function exactness(target: string): number {
  if (target === EVERYBODY) return 0;
  return groupOf(target) === undefined ? 2 : 1;
}
