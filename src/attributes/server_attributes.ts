import type { Logger } from "../logging/logger.ts";
import { groupNames, isAccountName, isPrivilegedAccount } from "../model/account_name.ts";
import { patternsOf } from "../model/pattern_list.ts";
import { parseRate } from "../model/rate.ts";
import { httpError } from "../model/http_error.ts";
import type { UserAttributes } from "./user_attributes.ts";

/** What a user is on one server, and how a session there is limited. */
export interface ServerAttributes {
  /** Unix account. */
  readonly uid: string;
  /** Unix group; absent: the daemon takes the account's own. */
  readonly gid?: string;
  /** Further Unix groups, instead of all that the account is in. */
  readonly furtherGroups: readonly string[];
  readonly availableGroups: readonly string[];
  /** Bytes per second; 0 is no limit. Reservations are applied afterwards. */
  readonly rateLimit: number;
  /** Allowed file path patterns, separated by `:`, as configured. */
  readonly includes?: string;
  /** Forbidden ones. */
  readonly excludes?: string;
}

/** Suffixes below `uftpd.<server>.` (specification 2.3). */
export const SERVER_SUFFIXES = ["xlogin", "group", "rateLimit", "includes", "excludes"] as const;

/** One of {@link SERVER_SUFFIXES}. */
type ServerSuffix = typeof SERVER_SUFFIXES[number];

/** Prefixes of per-server attributes; where both are given the first holds (authentication.md 7.8). */
export const SERVER_PREFIXES = ["uftpd", "daemon"] as const;

/**
 * What holds for a user on one server: the user's selection, overridden by the server's own attributes.
 * @param server Logical name.
 * @param options.requestedGroup Of the request's body; a group configured for the server beats it.
 * @throws {ERR_GROUP_NOT_AVAILABLE | ERR_NO_ACCOUNT | ERR_ACCOUNT_REFUSED | ERR_USER_ATTRIBUTE}
 */
export function attributesOnServer(
  user: UserAttributes,
  server: string,
  { requestedGroup, log }: { readonly requestedGroup?: string; readonly log: Logger },
): ServerAttributes {
  const { restricted } = user;
  const local = restricted === undefined || restricted.servers.includes(server) ? user : restricted.elsewhere;
  const configured = (suffix: ServerSuffix) => serverAttribute(local.extra, server, suffix, log);
  const groups = groupsOf(configured("group"), server);
  const availableGroups = [...new Set([...local.availableGroups, ...groups])];
  if (requestedGroup !== undefined && !availableGroups.includes(requestedGroup)) {
    throw httpError("ERR_GROUP_NOT_AVAILABLE", `The requested group is not available on ${server}`);
  }

  const uid = configured("xlogin") ?? local.uid;
  if (uid === undefined) throw httpError("ERR_NO_ACCOUNT", `No account on ${server}`);
  const others = requestedGroup === undefined || requestedGroup === local.group
    ? [local.group ?? [], local.furtherGroups ?? []].flat()
    : [requestedGroup];
  const [gid, ...furtherGroups] = groups.length > 0 ? groups : others;
  if (isPrivilegedAccount(uid)) {
    throw httpError(
      "ERR_ACCOUNT_REFUSED",
      `The account ${uid} on ${server} is privileged, no session may run as it`,
    );
  }
  checkName(uid, "xlogin");
  if (gid !== undefined) [gid, ...furtherGroups].forEach((name) => checkName(name, "group"));

  const patterns = (suffix: "includes" | "excludes") => {
    const list = configured(suffix);
    // A list such as `:` would allow everything.
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
    gid,
    furtherGroups,
    availableGroups,
    rateLimit: rateLimit(server, configured("rateLimit")),
    includes,
    excludes,
  };
}

/** Returns the accounts that a user has on any server: the one that is chosen, and those of the servers' own attributes. */
export function accountsOf({ uid, extra, restricted }: UserAttributes): readonly string[] {
  const own = [...extra].flatMap(([name, values]) =>
    SERVER_PREFIXES.some((prefix) => name.startsWith(`${prefix}.`)) && name.endsWith(".xlogin") ? values : []
  );
  const elsewhere = restricted === undefined ? [] : accountsOf(restricted.elsewhere);
  return [...(uid === undefined ? [] : [uid]), ...own, ...elsewhere];
}

/** @throws {ERR_USER_ATTRIBUTE} If one of the groups cannot be one. */
function groupsOf(text: string | undefined, server: string): readonly string[] {
  if (text === undefined) return [];
  const groups = groupNames(text);
  if (/^:*$/.test(text)) {
    throw httpError(
      "ERR_USER_ATTRIBUTE",
      `Attribute group on ${server} of the user: expected a group, or several with : between`,
    );
  }
  for (const group of groups) checkName(group, "group");
  return groups;
}

/**
 * @returns The last of several values, of groups and path patterns all of them, with colons between; nothing for empty path
 * patterns, which limit nothing in the Java service either.
 * @throws {ERR_USER_ATTRIBUTE} If it is there, but has no value.
 */
function serverAttribute(
  extra: UserAttributes["extra"],
  server: string,
  suffix: ServerSuffix,
  log: Logger,
): string | undefined {
  if (extra.size === 0) return undefined;
  const [name, other] = SERVER_PREFIXES.map((prefix) => `${prefix}.${server}.${suffix}`)
    .filter((candidate) => extra.has(candidate));
  if (name === undefined) return undefined;
  if (other !== undefined) log.warn("two spellings of one attribute", { used: name, ignored: other });
  const values = extra.get(name) ?? [];
  const value = isList(suffix) ? values.filter((each) => each !== "").join(":") : values.at(-1);
  if (value === "" && (suffix === "includes" || suffix === "excludes")) {
    log.warn("an empty list of paths limits nothing", { attribute: name });
    return undefined;
  }
  if (value === undefined || value === "") {
    throw httpError("ERR_USER_ATTRIBUTE", `Attribute ${name} of the user: expected a value`);
  }
  return value;
}

/** Whether each value of several counts: one lost in a list of forbidden paths would be a prohibition lost. */
function isList(suffix: ServerSuffix): boolean {
  return suffix === "group" || suffix === "includes" || suffix === "excludes";
}

function rateLimit(server: string, text: string | undefined): number {
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
