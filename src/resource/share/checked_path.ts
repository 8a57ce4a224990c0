import { attributesOnServer } from "../../attributes/server_attributes.ts";
import type { AccessLevel } from "../../sharing/access_level.ts";
import { grants } from "../../sharing/access_level.ts";
import { absolutePath, invalidPath, withoutSlash } from "../../model/absolute_path.ts";
import { openFiles } from "../../files/files.ts";
import { withinLimits } from "../../files/path_limits.ts";
import { mediatedScope } from "../../files/session_scope.ts";
import { isReadable, isWritable } from "../../daemon/session/entry.ts";
import type { Call } from "../call.ts";
import { notPermitted, type SharedServer } from "./shared_server.ts";
import type { SharingParts } from "./sharing_parts.ts";

/** Account of a share. */
export interface ShareAccount {
  readonly uid: string;
  readonly gid?: string;
  readonly includes?: string;
  readonly excludes?: string;
}

/** Returns the caller's account on a server. @throws {ERR_NOT_PERMITTED} For `nobody`. And as attributes without account or group. */
export function shareAccount(call: Call, server: string, group?: string): ShareAccount {
  const account = attributesOnServer(call.user, server, {
    requestedGroup: group,
    log: call.log,
  });
  if (account.uid.toLowerCase() === "nobody") throw notPermitted("This account cannot share anything");
  return account;
}

/** Checks the operator's policy for access above `READ` (D4: not even `MODIFY`). @throws {ERR_NOT_PERMITTED} */
export function checkWritePolicy(access: AccessLevel, { allowWriteAccess }: SharingParts): void {
  if (access !== "NONE" && access !== "READ" && !allowWriteAccess) {
    throw notPermitted("Write access to shares is not allowed on this server");
  }
}

/**
 * Returns a normalised path that exists and is in the owner's reach; a directory ends in a slash. The daemon checks it under
 * the owner's account, for new and changed shares alike (D9, rest-api.md 2.3).
 * @throws {ERR_NOT_FOUND | ERR_INVALID_PATH | ERR_NOT_PERMITTED} And as sessions.
 */
export async function checkedPath(
  text: string,
  { account, access, server, signal }: {
    readonly account: ShareAccount;
    readonly access: AccessLevel;
    readonly server: SharedServer;
    readonly signal: AbortSignal;
  },
): Promise<string> {
  const wanted = await fullPath(text, () => account.uid, server, signal);
  using session = await openFiles(server.sessions, {
    user: account.uid,
    group: account.gid,
    scope: mediatedScope(withoutSlash(wanted)),
    permission: "INFO",
    rateLimit: 0,
    instance: server.instance,
    limits: [],
  }, signal);
  const entry = await session.entry(wanted);
  if (entry.kind === "special") throw invalidPath("it is neither a file nor a directory");
  if (entry.kind === "file" && wanted.endsWith("/")) throw invalidPath("it is not a directory");
  const path = entry.kind === "directory" && !wanted.endsWith("/") ? `${wanted}/` : wanted;
  if (!withinLimits(account, path)) throw notPermitted("You have no access to this path");
  if (!isReadable(entry)) throw notPermitted("You cannot read that yourself");
  if ((access === "DROP" || grants(access, "WRITE")) && !isWritable(entry)) {
    throw notPermitted("You cannot write there yourself");
  }
  return path;
}

/** Normalises a path; a relative path begins in the home directory. @throws {ERR_INVALID_PATH} */
export async function fullPath(
  text: string,
  uid: () => string,
  { facts }: SharedServer,
  signal: AbortSignal,
): Promise<string> {
  if (text.startsWith("/")) return absolutePath(text);
  const info = await facts.daemons.userInfo(uid(), signal);
  if (info.kind !== "known" || info.home === undefined) throw invalidPath("it must begin with a slash");
  return absolutePath(`${info.home}/${text}`);
}
