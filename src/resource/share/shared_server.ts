import type { SessionClient } from "../../daemon/session/session_client.ts";
import { HttpError, httpError } from "../../model/http_error.ts";
import type { Call } from "../call.ts";
import { type ExistingServer, existingServer } from "../requested_server.ts";
import { checkLogin } from "../login_policy.ts";
import { checkTokenServer } from "../token_limits.ts";
import type { SharingParts } from "./sharing_parts.ts";
import type { Caller } from "../../model/identity.ts";

/** Logical server of a request, or one instance of it (D24). */
export interface SharedServer extends ExistingServer {
  readonly sessions: SessionClient;
}

/**
 * Returns the server if it has sharing and suits token and login. @throws {ERR_UNKNOWN_SERVER | ERR_TOKEN_RESTRICTIONS |
 * ERR_STRONGER_LOGIN_NEEDED}
 */
export function sharedServer(call: Call, { sessions, unauthenticated }: SharingParts): SharedServer {
  const server = existingServer(call.server);
  checkTokenServer(call, server.name);
  const client = sessions.get(server.name);
  if (client === undefined || !server.facts.sharing) throw httpError("ERR_UNKNOWN_SERVER");
  checkLogin(call, server.facts, { unauthenticated });
  return { ...server, sessions: client };
}

/** Creates {ERR_NOT_PERMITTED}. @param text Forbidden action. */
export function notPermitted(text: string): HttpError {
  return httpError("ERR_NOT_PERMITTED", { text });
}

/** Creates 401 for anonymous callers and 403 for known ones. */
export function refusal(
  caller: Caller,
  message: string,
  { unauthenticated }: { readonly unauthenticated: (reason: string) => HttpError },
): HttpError {
  return caller.kind === "anonymous" ? unauthenticated(message) : notPermitted(message);
}
