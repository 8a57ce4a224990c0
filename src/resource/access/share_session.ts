import { attributesOnServer, rateLimitOnServer } from "../../attributes/server_attributes.ts";
import type { DaemonSession } from "../../daemon/session/daemon_session.ts";
import { openFiles } from "../../files/files.ts";
import type { PathLimits } from "../../files/path_limits.ts";
import { mediatedScope } from "../../files/session_scope.ts";
import { isHttpError } from "../../model/http_error.ts";
import { isDirectory, type Share } from "../../sharing/share.ts";
import type { Call } from "../call.ts";
import { lowestLimit } from "../server_facts.ts";
import type { SharedServer } from "../share/shared_server.ts";

/** Builds the session request of a share: the owner's account with the caller's rate limit and reservation. */
export function shareSession(
  { user, log }: Pick<Call, "user" | "log">,
  { name, facts: { reservations } }: SharedServer,
  { uid, gid }: Pick<Share, "uid" | "gid">,
): { readonly user: string; readonly group: string | undefined; readonly rateLimit: number } {
  const own = rateLimitOnServer(user, name, log);
  let caller: string | undefined;
  try {
    caller = attributesOnServer(user, name, { log }).uid;
  } catch (error) {
    const codes = ["ERR_NO_ACCOUNT", "ERR_ACCOUNT_REFUSED", "ERR_ATTRIBUTE_SOURCE"] as const;
    if (!codes.some((code) => isHttpError(error, code))) throw error;
  }
  return { user: uid, group: gid, rateLimit: lowestLimit(own, reservations.limitFor(caller)) };
}

/** Opens a session for one path of a share; one that reads a shared directory reaches all of it. The next request reuses a session for the share's own path. */
export function openShareSession(
  call: Call,
  { server, share, limits }: {
    readonly server: SharedServer;
    readonly share: Share;
    readonly limits: readonly PathLimits[]; // the owner's
  },
  { path, permission }: { readonly path: string; readonly permission: "READ" | "WRITE" },
  signal: AbortSignal,
): Promise<DaemonSession> {
  const place = isDirectory(share) && permission === "READ" ? share.path : path;
  const wanted = {
    ...shareSession(call, server, share),
    scope: mediatedScope(place),
    permission,
    keep: place === share.path,
    instance: server.instance,
    within: share.path,
    limits,
  };
  return openFiles(server.sessions, wanted, signal);
}
