import { type AttributeSet, NO_ATTRIBUTES, type StandardAttribute } from "../model/attributes.ts";
import type { Identity } from "../model/identity.ts";
import { httpError, isHttpError } from "../model/http_error.ts";
import { lowerRole } from "./access_rules.ts";
import type { AttributeSource } from "./attribute_source.ts";
import { parsePreferences, type Preferences } from "./preferences.ts";

/** What a caller may be, and is unless a server's own attributes say otherwise. */
export interface UserAttributes {
  readonly role: string;
  readonly availableRoles: readonly string[];
  /** Unix account; absent if no source gives one. */
  readonly uid?: string;
  readonly availableUids: readonly string[];
  readonly group?: string;
  /** Groups that go with `group`, as `group` of a map entry can name several. */
  readonly furtherGroups?: readonly string[];
  /** Values of `group`, then of `supplementaryGroups`, each once; empty without an account. */
  readonly availableGroups: readonly string[];
  /** Selected ones. */
  readonly supplementaryGroups: readonly string[];
  readonly queue?: string;
  readonly availableQueues: readonly string[];
  /** Non-standard attributes by exact name, such as `uftpd.HPC.rateLimit`. */
  readonly extra: ReadonlyMap<string, readonly string[]>;
  /** Present if authentication proved the account on some servers only. */
  readonly restricted?: {
    readonly servers: readonly string[];
    /** On all other servers: what holds without the account that authentication found. */
    readonly elsewhere: UserAttributes;
  };
}

/** Role of callers without any. */
export const ANONYMOUS_ROLE = "anonymous";
const BANNED_ROLE = "banned";

/**
 * Collects what the sources know about the caller, and applies the caller's preferences.
 *
 * An account that a daemon's key proved on some servers is, on the others, not the caller's unless a source assigns it
 * (authentication.md 10.7); therefore the sources are asked once more for a caller without that account.
 * @param preferences Those of the request; the ones frozen in an issued token take their place.
 * @throws {ERR_PREFERENCE_NOT_ALLOWED} and what sources throw.
 */
export async function userAttributes(
  source: AttributeSource,
  identity: Identity,
  { preferences, signal }: { readonly preferences: Preferences; readonly signal: AbortSignal },
): Promise<UserAttributes> {
  const frozen = identity.issuedToken?.preferences;
  const effective = frozen === undefined ? preferences : parsePreferences([frozen]);
  const user = limited(selectAttributes(await source.attributesOf(identity, signal), effective), identity);
  if (identity.uidServers === undefined || identity.uid === undefined) return user;
  const { uid: _uid, groups: _groups, ...unproven } = identity;
  const elsewhere = limited(
    selectElsewhere(await source.attributesOf(unproven, signal), effective),
    identity,
  );
  return { ...user, restricted: { servers: identity.uidServers, elsewhere } };
}

/** What a token gives: never a higher role than its maker had. */
function limited(user: UserAttributes, { issuedToken }: Identity): UserAttributes {
  const highest = issuedToken?.highestRole;
  if (highest === undefined) return user;
  const below = (role: string) => lowerRole(highest, role);
  return {
    ...user,
    role: below(user.role),
    availableRoles: [...new Set(user.availableRoles.map(below))],
  };
}

/**
 * Chooses among the allowed values: what the caller prefers, else the default, else the first (authentication.md 7.8).
 * A preference for something of which the caller has nothing at all is ignored.
 * @throws {ERR_PREFERENCE_NOT_ALLOWED}
 */
export function selectAttributes(
  { standard, extra }: AttributeSet,
  preferences: Preferences,
): UserAttributes {
  const allowed = (name: StandardAttribute) => standard.get(name)?.allowed ?? [];
  const preferred = (name: StandardAttribute) => standard.get(name)?.preferred ?? [];

  const availableRoles = allowed("role");
  const chosen = choose("role", preferences.role, availableRoles, preferred("role")) ?? ANONYMOUS_ROLE;
  // A ban is no choice: neither a preference nor another source's default gets around it.
  const role = availableRoles.includes(BANNED_ROLE) ? BANNED_ROLE : chosen;
  const availableUids = allowed("xlogin");
  const availableQueues = allowed("queue");
  const queue = choose("queue", undefined, availableQueues, preferred("queue"));
  const common = {
    role,
    availableRoles: availableRoles.length > 0 ? availableRoles : [ANONYMOUS_ROLE],
    availableQueues,
    queue,
    extra,
  };
  const uid = choose("uid", preferences.uid, availableUids, preferred("xlogin"));
  if (uid === undefined) {
    return { ...common, availableUids: [], availableGroups: [], supplementaryGroups: [] };
  }
  const availableGroups = [...new Set([...allowed("group"), ...allowed("supplementaryGroups")])];
  const [first, ...furtherGroups] = preferred("group");
  const group = choose("group", preferences.group, availableGroups, preferred("group"));
  return {
    ...common,
    uid,
    availableUids,
    group,
    ...(group === first && furtherGroups.length > 0 && { furtherGroups }),
    availableGroups,
    supplementaryGroups: supplementary(preferences, availableGroups) ?? preferred("supplementaryGroups"),
  };
}

function choose(
  key: keyof Preferences | "queue",
  wanted: string | undefined,
  allowed: readonly string[],
  preferred: readonly string[],
): string | undefined {
  if (wanted === undefined || allowed.length === 0) return preferred[0] ?? allowed[0];
  if (!allowed.includes(wanted)) {
    throw httpError("ERR_PREFERENCE_NOT_ALLOWED", `The preferred ${key} is not among the allowed values`);
  }
  return wanted;
}

function supplementary(
  { supplementaryGroups: wanted }: Preferences,
  allowed: readonly string[],
): readonly string[] | undefined {
  if (wanted === undefined || allowed.length === 0) return undefined;
  if (!wanted.every((group) => allowed.includes(group))) {
    throw httpError(
      "ERR_PREFERENCE_NOT_ALLOWED",
      "The preferred supplementaryGroups is not among the allowed values",
    );
  }
  return wanted;
}

/** Where the preferred account or group is not the caller's, the caller has none: not another one instead. */
function selectElsewhere(attributes: AttributeSet, preferences: Preferences): UserAttributes {
  try {
    return selectAttributes(attributes, preferences);
  } catch (error) {
    if (isHttpError(error, "ERR_PREFERENCE_NOT_ALLOWED")) return selectAttributes(NO_ATTRIBUTES, {});
    throw error;
  }
}
