import { attributesOnServer } from "../../attributes/server_attributes.ts";
import type { DaemonSession } from "../../daemon/session/daemon_session.ts";
import { httpError, isHttpError } from "../../model/http_error.ts";
import { mediatedScope } from "../../sharing/rules/session_scope.ts";
import type { Share } from "../../sharing/share.ts";
import type { Call } from "../call.ts";
import { lowestLimit } from "../server_facts.ts";
import type { SharedServer } from "../share/shared_server.ts";

/** Builds the session request of a share: the owner's account with the caller's rate limit and reservation. */
export function shareSession(
  { user, log }: Pick<Call, "user" | "log">,
  { name, facts: { reservations } }: SharedServer,
  { uid, gid }: Pick<Share, "uid" | "gid">,
): { readonly user: string; readonly group: string | undefined; readonly rateLimit: number } {
  const account = { user: uid, group: gid };
  try {
    const caller = attributesOnServer(user, name, { log });
    return { ...account, rateLimit: lowestLimit(caller.rateLimit, reservations.limitFor(caller.uid)) };
  } catch (error) {
    if (!isHttpError(error, "ERR_NO_ACCOUNT")) throw error;
    return { ...account, rateLimit: lowestLimit(reservations.limitFor(undefined)) };
  }
}

/** Opens a session for one path of a share. @param path A directory ends in a slash. */
export function openShareSession(
  call: Call,
  { server, share }: { readonly server: SharedServer; readonly share: Share },
  { path, permission }: { readonly path: string; readonly permission: "READ" | "WRITE" },
  signal: AbortSignal,
): Promise<DaemonSession> {
  return server.sessions.open({
    ...shareSession(call, server, share),
    scope: mediatedScope(path),
    permission,
    instance: server.instance,
  }, signal);
}

/** Returns the file to be replaced, if it exists. @throws {ERR_NOT_A_FILE} A pipe or device could block the daemon for ever. */
export async function existingFile(session: DaemonSession, path: string) {
  try {
    const entry = await session.datedEntry(path);
    if (entry.kind !== "file") throw httpError("ERR_NOT_A_FILE");
    return entry;
  } catch (error) {
    if (isHttpError(error, "ERR_NOT_FOUND")) return undefined;
    throw error;
  }
}
