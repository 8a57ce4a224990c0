import { type AttributeSet, NO_ATTRIBUTES, type StandardAttribute, union } from "../model/attributes.ts";
import type { Identity, IssuedTokenFacts } from "../model/identity.ts";
import { attempt } from "../model/attempt.ts";
import { HttpError, httpError, isHttpError } from "../model/http_error.ts";
import { lowerRole } from "./access_rules.ts";
import type { AttributeSource } from "./attribute_source.ts";

export interface UserAttributes {
  readonly role: string;
  readonly availableRoles: readonly string[];
  readonly uid?: string;
  readonly availableUids: readonly string[];
  readonly group?: string;
  readonly furtherGroups?: readonly string[]; // further groups of a map entry's `group`
  /** Unique values of `group`, then `supplementaryGroups`; empty without an account. */
  readonly availableGroups: readonly string[];
  readonly supplementaryGroups: readonly string[];
  /** Non-standard attributes, such as `uftpd.HPC.rateLimit`. */
  readonly extra: ReadonlyMap<string, readonly string[]>;
  /** Present if the account is proven on some servers only. */
  readonly restricted?: {
    readonly servers: readonly string[];
    readonly elsewhere: UserAttributes;
  };
  readonly issuer?: UserAttributes; // of the administrator who issued the token
  /** Outage of an optional source: the reason to give where something is missing. */
  readonly outage?: HttpError | undefined;
}

/** Role without credentials. */
export const ANONYMOUS_ROLE = "anonymous";
export const BANNED_ROLE = "banned";

/**
 * Combines the sources' attributes with the caller's preferences. An account proven on some servers is valid on
 * others only if a source assigns it (credentials.md 10.7), so the function asks the sources again without it.
 * @param preferences From the request; those of an issued token replace them.
 * @throws {ERR_PREFERENCE_NOT_ALLOWED | ERR_FORBIDDEN} Also what sources throw.
 */
export async function userAttributes(
  source: AttributeSource,
  identity: Identity,
  { preferences, signal }: { readonly preferences: Preferences; readonly signal: AbortSignal },
): Promise<UserAttributes> {
  const { issuedToken: token } = identity;
  const effective = token?.preferences === undefined ? preferences : parsePreferences([token.preferences]);
  const found = await source.attributesOf(identity, signal);
  const selected = attempt(() => selectAttributes(found, effective), HttpError, (error) => {
    throw found.outage ?? error;
  });
  const own = { ...limited(selected, identity), outage: found.outage };
  const user = token?.by === undefined ? own : { ...own, issuer: await issuerOf(source, token, signal) };
  if (identity.uidServers === undefined || identity.uid === undefined) return user;
  const { uid: _uid, groups: _groups, ...unproven } = identity;
  const others = await source.attributesOf(unproven, signal);
  const elsewhere = limited(selectElsewhere(others, effective), identity);
  const outage = found.outage ?? others.outage;
  return { ...user, outage, restricted: { servers: identity.uidServers, elsewhere } };
}

/** Returns the attributes of a token's issuer. @throws {ERR_FORBIDDEN} If banned or removed. Also what sources throw. */
async function issuerOf(source: AttributeSource, token: IssuedTokenFacts, signal: AbortSignal) {
  const { by: dn = "", byUid: uid, byRole } = token;
  const issuer = { dn, uid, role: byRole === ANONYMOUS_ROLE ? undefined : byRole, method: "ETD", via: "ETD" };
  const found = await source.attributesOf(issuer, signal);
  const isKnown = byRole === undefined || found.standard.size > 0 || found.extra.size > 0;
  const user = selectAttributes(found, {});
  if (isKnown && user.role !== BANNED_ROLE) return user;
  const reason = "the administrator who issued the token is banned or removed";
  throw (isKnown ? undefined : found.outage) ?? httpError("ERR_FORBIDDEN", reason);
}

function limited(user: UserAttributes, { issuedToken }: Identity): UserAttributes {
  const highest = issuedToken?.highestRole;
  if (highest === undefined) return user;
  const below = (role: string) => lowerRole(highest, role);
  return { ...user, role: below(user.role), availableRoles: [...new Set(user.availableRoles.map(below))] };
}

/**
 * Selects the preferred value, the default, or the first (credentials.md 7.8). A preference without any
 * allowed value is ignored. @throws {ERR_PREFERENCE_NOT_ALLOWED}
 */
export function selectAttributes(
  { standard, extra }: AttributeSet,
  preferences: Preferences,
): UserAttributes {
  const allowed = (name: StandardAttribute) => standard.get(name)?.allowed ?? [];
  const preferred = (name: StandardAttribute) => standard.get(name)?.preferred ?? [];

  const availableRoles = allowed("role");
  const chosen = choose("role", preferences.role, availableRoles, preferred("role")) ?? ANONYMOUS_ROLE;
  // Neither preferences nor defaults override a ban.
  const role = availableRoles.includes(BANNED_ROLE) ? BANNED_ROLE : chosen;
  const availableUids = allowed("xlogin");
  const roles = availableRoles.length > 0 ? availableRoles : [ANONYMOUS_ROLE];
  const common = { role, availableRoles: roles, extra };
  const uid = choose("uid", preferences.uid, availableUids, preferred("xlogin"));
  if (uid === undefined) {
    return { ...common, availableUids: [], availableGroups: [], supplementaryGroups: [] };
  }
  const availableGroups = union(allowed("group"), allowed("supplementaryGroups"));
  const wanted = availableGroups.length === 0 ? undefined : preferences.supplementaryGroups;
  wanted?.forEach((group) => choose("supplementaryGroups", group, availableGroups, []));
  const preferredGroups = preferred("group");
  const group = choose("group", preferences.group, availableGroups, preferredGroups);
  return {
    ...common,
    uid,
    availableUids,
    group,
    furtherGroups: group === preferredGroups[0] && preferredGroups.length > 1
      ? preferredGroups.slice(1)
      : undefined,
    availableGroups,
    supplementaryGroups: wanted ?? preferred("supplementaryGroups"),
  };
}

function choose(
  key: keyof Preferences,
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

/** Selects no account, rather than another one, where the preferred account or group is not allowed. */
function selectElsewhere(attributes: AttributeSet, preferences: Preferences): UserAttributes {
  try {
    return selectAttributes(attributes, preferences);
  } catch (error) {
    if (isHttpError(error, "ERR_PREFERENCE_NOT_ALLOWED")) return selectAttributes(NO_ATTRIBUTES, {});
    throw error;
  }
}

export interface Preferences {
  readonly uid?: string;
  readonly group?: string;
  readonly role?: string;
  readonly supplementaryGroups?: readonly string[];
}

const KEYS: ReadonlyMap<string, keyof Preferences> = new Map([
  ["uid", "uid"],
  ["xlogin", "uid"],
  ["group", "group"],
  ["pgid", "group"],
  ["role", "role"],
  ["supgids", "supplementaryGroups"],
  ["supplementarygroups", "supplementaryGroups"],
]);

/**
 * Parses `X-UNICORE-User-Preferences`: case-insensitive keys, the last of a repeated key wins, groups by `+`.
 * @throws {ERR_INVALID_PREFERENCES | ERR_UNKNOWN_PREFERENCE}
 */
export function parsePreferences(headers: readonly string[]): Preferences {
  const preferences: { -readonly [K in keyof Preferences]: Preferences[K] } = {};
  const parts = headers.flatMap((header) => header.split(",")).filter((part) => part.trim() !== "");
  for (const part of parts) {
    const [name = "", value = "", ...more] = part.split(":").map((text) => text.trim());
    if (name === "" || value === "" || more.length > 0) throw httpError("ERR_INVALID_PREFERENCES");
    const key = KEYS.get(name.toLowerCase());
    if (key === undefined) throw httpError("ERR_UNKNOWN_PREFERENCE", `Unknown user preference ${name}`);
    if (key !== "supplementaryGroups") preferences[key] = value;
    else preferences[key] = value.split("+").map((group) => group.trim());
  }
  return preferences;
}
