import type { Logger } from "../logging/logger.ts";
import { isAccountName, isPrivilegedAccount } from "../model/account_name.ts";
import { patternsOf } from "../model/pattern_list.ts";
import { parseRate } from "../model/rate.ts";
import { ServiceError } from "../model/service_error.ts";
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

/** The requested group is not among the user's. */
export class GroupNotAvailable extends ServiceError {
  readonly code = "ERR_GROUP_NOT_AVAILABLE";
  readonly status = 400;
  readonly publicMessage = "The requested group is not available to you";

  constructor(readonly server: string) {
    super(`The requested group is not available on ${server}`);
  }
}

/** Somebody, but without Unix account on the server. */
export class NoAccount extends ServiceError {
  readonly code = "ERR_NO_ACCOUNT";
  readonly status = 401;
  readonly publicMessage = "You have no account on this server";

  constructor(readonly server: string) {
    super(`No account on ${server}`);
  }
}

/** An account that no session may run as, whatever the sources say. */
export class AccountRefused extends ServiceError {
  readonly code = "ERR_ACCOUNT_REFUSED";
  readonly status = 403;
  readonly publicMessage = "Transfers with this account are not possible";

  constructor(readonly server: string, readonly account: string) {
    super(`The account ${account} on ${server} is privileged, no session may run as it`);
  }
}

/** A value an operator wrote for this user that cannot be used; guessing what it means could lift a limit. */
export class UnusableAttribute extends ServiceError {
  readonly code = "ERR_USER_ATTRIBUTE";
  readonly status = 500;
  readonly publicMessage = "Your settings for this server are not valid, please tell its operators";

  constructor(readonly attribute: string, expected: string) {
    super(`Attribute ${attribute} of the user: ${expected}`);
  }
}

/** Suffixes below `uftpd.<server>.` (specification 2.3). */
export const SERVER_SUFFIXES = ["xlogin", "group", "rateLimit", "includes", "excludes"] as const;

/** One of {@link SERVER_SUFFIXES}. */
export type ServerSuffix = typeof SERVER_SUFFIXES[number];

/** Prefixes of per-server attributes; where both are given the first holds (authentication.md 7.8). */
export const SERVER_PREFIXES = ["uftpd", "daemon"] as const;

/**
 * What holds for a user on one server: the user's selection, overridden by the server's own attributes.
 * @param server Logical name.
 * @param options.requestedGroup Of the request's body; a group configured for the server beats it.
 * @throws {GroupNotAvailable | NoAccount | AccountRefused | UnusableAttribute}
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
    throw new GroupNotAvailable(server);
  }

  const uid = configured("xlogin") ?? local.uid;
  if (uid === undefined) throw new NoAccount(server);
  const gid = groups[0] ?? requestedGroup ?? local.group;
  if (isPrivilegedAccount(uid)) throw new AccountRefused(server, uid);
  checkName(uid, "xlogin");
  if (gid !== undefined) checkName(gid, "group");

  const patterns = (suffix: "includes" | "excludes") => {
    const list = configured(suffix);
    // A list such as `:` would allow everything.
    if (list !== undefined && patternsOf(list).length === 0) {
      throw new UnusableAttribute(`${suffix} on ${server}`, "expected path patterns");
    }
    return list;
  };
  const includes = patterns("includes");
  const excludes = patterns("excludes");
  return {
    uid,
    ...(gid === undefined ? {} : { gid }),
    furtherGroups: groups.slice(1),
    availableGroups,
    rateLimit: rateLimit(server, configured("rateLimit")),
    ...(includes === undefined ? {} : { includes }),
    ...(excludes === undefined ? {} : { excludes }),
  };
}

/** Groups separated by colons, as the daemon takes them: the first is the primary one. @throws {UnusableAttribute} */
function groupsOf(text: string | undefined, server: string): readonly string[] {
  if (text === undefined) return [];
  const groups = [...new Set(text.split(":").filter((name) => name !== ""))];
  if (groups.length === 0) {
    throw new UnusableAttribute(`group on ${server}`, "expected a group, or several with : between");
  }
  for (const group of groups) checkName(group, "group");
  return groups;
}

/**
 * @returns The last of several values, of groups and path patterns all of them, with colons between; nothing for empty path
 * patterns, which limit nothing in the Java service either.
 * @throws {UnusableAttribute} If it is there, but has no value.
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
  if (value === undefined || value === "") throw new UnusableAttribute(name, "expected a value");
  return value;
}

/** Whether each value of several counts: one lost in a list of forbidden paths would be a prohibition lost. */
function isList(suffix: ServerSuffix): boolean {
  return suffix === "group" || suffix === "includes" || suffix === "excludes";
}

function rateLimit(server: string, text: string | undefined): number {
  if (text === undefined) return 0;
  const rate = parseRate(text);
  if (rate.kind === "invalid") throw new UnusableAttribute(`rateLimit on ${server}`, rate.expected);
  return rate.bytesPerSecond;
}

function checkName(name: string, attribute: string): void {
  if (!isAccountName(name)) {
    throw new UnusableAttribute(attribute, "expected the name of an account or group");
  }
}
