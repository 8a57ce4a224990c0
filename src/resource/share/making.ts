import { namedUser } from "../../authentication/account_status.ts";
import { HttpError } from "../../model/http_error.ts";
import { absolutePath } from "../../model/absolute_path.ts";
import type { Making } from "../../sharing/share.ts";
import type { Call } from "../call.ts";
import type { ShareAccount } from "./checked_path.ts";
import { refusal, type SharedServer } from "./shared_server.ts";
import type { SharingParts } from "./sharing_parts.ts";

/** Returns the circumstances of creation that a share keeps. @param path As shared. */
export async function makingOf(
  call: Call,
  { path, account, server }: {
    readonly path: string;
    readonly account: ShareAccount;
    readonly server: SharedServer;
  },
  parts: Pick<SharingParts, "owners" | "unauthenticated">,
): Promise<Making> {
  const { caller, signal } = call;
  if (caller.kind === "anonymous") throw refusal(caller, "Sharing needs credentials", parts);
  const owner = namedUser(caller.identity);
  const { uid, gid, includes, excludes } = account;
  return {
    owner,
    ...await parts.owners.mapped(owner.dn, { server: server.name, uid, gid }, signal),
    atHome: await isAtHome(path, uid, server, signal),
    limits: { includes, excludes },
  };
}

/** An account whose home is the root has no home directory. */
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
