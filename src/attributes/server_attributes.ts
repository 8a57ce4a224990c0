import type { Logger } from "../logging/logger.ts";
import { groupNames, isAccountName, isPrivilegedAccount } from "../model/account_name.ts";
import { patternsOf } from "../model/wildcards.ts";
import { parseRate } from "../model/rate.ts";
import { httpError } from "../model/http_error.ts";
import { union } from "../model/attributes.ts";
import type { UserAttributes } from "./user_attributes.ts";

/** Account and session limits of a user on one server. */
export interface ServerAttributes {
  readonly uid: string;
  readonly gid?: string; // absent: the account's primary group
  readonly groups?: string; // `gid`, and after `:` those that replace the account's supplementary groups
  readonly availableGroups: readonly string[];
  readonly rateLimit: number; // bytes per second before reservations; 0: no limit
  readonly includes?: string; // allowed path patterns, separated by `:`
  readonly excludes?: string;
}

/** Suffixes below `uftpd.<server>.` (specification 2.3). */
export const SERVER_SUFFIXES = ["xlogin", "group", "rateLimit", "includes", "excludes"] as const;

type ServerSuffix = typeof SERVER_SUFFIXES[number];

/**
 * Returns a user's attributes on one server; its configured group wins over the requested one.
 * @throws {ERR_GROUP_NOT_AVAILABLE | ERR_NO_ACCOUNT | ERR_ACCOUNT_REFUSED | ERR_USER_ATTRIBUTE} Or an outage.
 */
export function attributesOnServer(
  user: UserAttributes,
  server: string,
  { requestedGroup, log }: { readonly requestedGroup?: string; readonly log: Logger },
): ServerAttributes {
  const local = localAttributes(user, server);
  const configured = (suffix: ServerSuffix) => serverAttribute(local.extra, server, suffix, log);
  const listed = configured("group");
  const groups = listed === undefined ? [] : groupNames(listed);
  for (const group of groups) checkName(group, "group");
  const availableGroups = union(local.availableGroups, groups);
  const requested = requestedGroup === undefined ? [] : groupNames(requestedGroup);
  if (!requested.every((group) => availableGroups.includes(group))) {
    throw user.outage ??
      httpError("ERR_GROUP_NOT_AVAILABLE", `The requested group is not available on ${server}`);
  }

  const uid = configured("xlogin") ?? local.uid;
  if (uid === undefined) throw user.outage ?? httpError("ERR_NO_ACCOUNT", `No account on ${server}`);
  const others = requestedGroup === undefined || requestedGroup === local.group
    ? local.group === undefined ? [] : [local.group, ...local.furtherGroups ?? []]
    : requested;
  const named = groups.length > 0 ? groups : others;
  if (isPrivilegedAccount(uid)) {
    throw httpError(
      "ERR_ACCOUNT_REFUSED",
      `The account ${uid} on ${server} is privileged, no session may run as it`,
    );
  }
  checkName(uid, "xlogin");
  for (const name of named) checkName(name, "group");

  const patterns = (suffix: "includes" | "excludes") => {
    const list = configured(suffix);
    // An empty list such as `:` would allow everything.
    if (list !== undefined && patternsOf(list).length === 0) {
      throw httpError(
        "ERR_USER_ATTRIBUTE",
        `Attribute ${suffix} on ${server} of the user: expected path patterns`,
      );
    }
    return list;
  };
  const includes = patterns("includes");
  const excludes = patterns("excludes");
  return {
    uid,
    gid: named[0],
    groups: named.length === 0 ? undefined : named.join(":"),
    availableGroups,
    rateLimit: rateLimitOnServer(user, server, log),
    includes,
    excludes,
  };
}

/** Reports whether an account has each group of a list with `:` between. */
export function hasGroups(
  { groups = "", availableGroups }: ServerAttributes,
  list: string | undefined,
): boolean {
  const own = [...groupNames(groups), ...availableGroups];
  return list === undefined || groupNames(list).every((group) => own.includes(group));
}

/** Returns a user's attributes, without the account of the login on servers where it is not proven. */
export function localAttributes(user: UserAttributes, server: string): UserAttributes {
  const { restricted } = user;
  return restricted === undefined || restricted.servers.includes(server) ? user : restricted.elsewhere;
}

/** Returns the accounts of a user, and of the administrator who issued their token, on all servers. */
export function accountsOf({ uid, extra, restricted, issuer }: UserAttributes): readonly string[] {
  const own = [...extra].flatMap(([name, values]) =>
    name.startsWith("uftpd.") && name.endsWith(".xlogin") ? values : []
  );
  const others = [restricted?.elsewhere, issuer].filter((user) => user !== undefined).flatMap(accountsOf);
  return [...(uid === undefined ? [] : [uid]), ...own, ...others];
}

/** Returns the last value, or all joined by `:` for groups and patterns. @throws {ERR_USER_ATTRIBUTE} */
function serverAttribute(extra: UserAttributes["extra"], server: string, suffix: ServerSuffix, log: Logger) {
  if (extra.size === 0) return undefined;
  const name = `uftpd.${server}.${suffix}`;
  const values = extra.get(name);
  if (values === undefined) return undefined;
  // All values of a list apply: dropping a forbidden path would allow it.
  const isList = suffix === "group" || suffix === "includes" || suffix === "excludes";
  const value = isList ? values.filter((each) => each !== "").join(":") : values.at(-1);
  if (value === "" && (suffix === "includes" || suffix === "excludes")) {
    log.warn("an empty list of paths limits nothing", { attribute: name });
    return undefined;
  }
  if (value === undefined || value === "") {
    throw httpError("ERR_USER_ATTRIBUTE", `Attribute ${name} of the user: expected a value`);
  }
  return value;
}

/** Returns a user's rate limit on one server, which needs no account. @throws {ERR_USER_ATTRIBUTE} */
export function rateLimitOnServer(user: UserAttributes, server: string, log: Logger): number {
  const text = serverAttribute(localAttributes(user, server).extra, server, "rateLimit", log);
  if (text === undefined) return 0;
  const rate = parseRate(text);
  if (rate.kind === "invalid") {
    throw httpError("ERR_USER_ATTRIBUTE", `Attribute rateLimit on ${server} of the user: ${rate.expected}`);
  }
  return rate.bytesPerSecond;
}

function checkName(name: string, attribute: string): void {
  if (!isAccountName(name)) {
    throw httpError(
      "ERR_USER_ATTRIBUTE",
      `Attribute ${attribute} of the user: expected the name of an account or group`,
    );
  }
}
