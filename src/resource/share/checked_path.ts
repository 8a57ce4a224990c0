import { attributesOnServer, type ServerAttributes } from "../../attributes/server_attributes.ts";
import { type AccessLevel, type CreationRights, grants } from "../../sharing/share.ts";
import { absolutePath, invalidPath, withoutSlash } from "../../model/absolute_path.ts";
import { openFiles } from "../../files/files.ts";
import { withinLimits } from "../../files/path_limits.ts";
import { mediatedScope } from "../../files/session_scope.ts";
import { isReadable, isWritable } from "../../daemon/session/entry.ts";
import type { Call } from "../call.ts";
import { notPermitted, refusal, type SharedServer } from "./shared_server.ts";
import type { SharingParts } from "./sharing_parts.ts";
import { userReference } from "../../authentication/account_status.ts";
import { HttpError } from "../../model/http_error.ts";
import { checkTokenUse } from "../token_limits.ts";

type ShareAccount = Pick<ServerAttributes, "uid" | "groups" | "includes" | "excludes">;
const noAccess = () => notPermitted("You have no access to this path");

/** Returns the caller's account on a server. @throws {ERR_NOT_PERMITTED} For `nobody`. And as attributes without account or group. */
export function shareAccount(call: Call, server: string, group?: string): ServerAttributes {
  const account = attributesOnServer(call.user, server, { requestedGroup: group, log: call.log });
  if (account.uid.toLowerCase() === "nobody") throw notPermitted("This account cannot share anything");
  return account;
}

/** Checks the operator's policy for access above `READ` (D4: not even `MODIFY`). @throws {ERR_NOT_PERMITTED} */
export function checkWritePolicy(access: AccessLevel, { allowWriteAccess }: SharingParts): void {
  if (access !== "NONE" && access !== "READ" && !allowWriteAccess) {
    throw notPermitted("Write access to shares is not allowed on this server");
  }
}

/** Returns a normalised path in the owner's reach, as the daemon finds it; a directory ends in a slash (D9, rest-api.md 2.3). */
export async function checkedPath(
  text: string,
  { call, account, access, server }: {
    readonly call: Pick<Call, "caller" | "signal">;
    readonly account: ShareAccount;
    readonly access: AccessLevel;
    readonly server: SharedServer;
  },
): Promise<string> {
  const wanted = await fullPath(text, () => account.uid, server, call.signal);
  const directory = wanted.endsWith("/") ? wanted : `${wanted}/`;
  checkTokenUse(call, directory, "READ"); // first: the daemon's answer would reveal what is there
  if (![wanted, directory].some((path) => withinLimits(account, path))) throw noAccess();
  using session = await openFiles(server.sessions, {
    user: account.uid,
    group: account.groups,
    scope: mediatedScope(withoutSlash(wanted)),
    permission: "INFO",
    rateLimit: 0,
    instance: server.instance,
    limits: [],
  }, call.signal);
  const entry = await session.entry(wanted);
  if (entry.kind === "special") throw invalidPath("it is neither a file nor a directory");
  const asDirectory = access === "DROP" || wanted.endsWith("/");
  if (entry.kind === "file" && asDirectory) throw invalidPath("it is not a directory");
  const path = entry.kind === "directory" ? directory : wanted;
  if (!withinLimits(account, path)) throw noAccess();
  if (!isReadable(entry)) throw notPermitted("You have no read access to this path");
  if ((access === "DROP" || grants(access, "WRITE")) && !isWritable(entry)) {
    throw notPermitted("You have no write access to this path");
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

/** Returns the circumstances of creation that a share keeps. @param path As shared. */
export async function creationRights(
  call: Call,
  { path, account, server }: {
    readonly path: string;
    readonly account: ShareAccount;
    readonly server: SharedServer;
  },
  parts: Pick<SharingParts, "owners" | "unauthenticated">,
): Promise<CreationRights> {
  const { caller, signal } = call;
  if (caller.kind === "anonymous") throw refusal(caller, "Sharing needs credentials", parts);
  const owner = { ...userReference(caller.identity), name: caller.identity.displayName };
  const { uid, groups: gid, includes, excludes } = account;
  return {
    owner,
    ...await parts.owners.mapped(caller.identity, { server: server.name, uid, gid }, signal),
    atHome: await isAtHome(path, uid, server, signal),
    limits: { includes, excludes },
  };
}

/** Reports whether a path is in the home directory; an account whose home is the root has none. */
async function isAtHome(
  path: string,
  uid: string,
  { facts }: SharedServer,
  signal: AbortSignal,
): Promise<boolean> {
  try {
    const info = await facts.daemons.userInfo(uid, signal);
    if (info.kind !== "known" || info.home === undefined) return false;
    const home = absolutePath(`${info.home}/`);
    return home !== "/" && path.startsWith(home);
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof HttpError) return false;
    throw error;
  }
}
