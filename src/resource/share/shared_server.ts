import type { SessionClient } from "../../daemon/session/session_client.ts";
import { HttpError, httpError } from "../../model/http_error.ts";
import type { Call } from "../call.ts";
import { type ExistingServer, existingServer } from "../requested_server.ts";
import { checkLogin } from "../login_policy.ts";
import { checkTokenServer } from "../token_limits.ts";
import type { SharingParts } from "./sharing_parts.ts";
import type { Caller } from "../../model/identity.ts";

/** The logical server of a request, with the one instance it names, if it does (D24). */
export interface SharedServer extends ExistingServer {
  readonly sessions: SessionClient;
}

/** @throws {ERR_UNKNOWN_SERVER | ERR_TOKEN_RESTRICTIONS | ERR_STRONGER_LOGIN_NEEDED} If there is none of that name, it has no sharing, or is not for the token or the login. */
export function sharedServer(call: Call, { sessions, unauthenticated }: SharingParts): SharedServer {
  const server = existingServer(call.server);
  checkTokenServer(call, server.name);
  const client = sessions.get(server.name);
  if (client === undefined || !server.facts.sharing) throw httpError("ERR_UNKNOWN_SERVER");
  checkLogin(call, server.facts, { unauthenticated });
  return { ...server, sessions: client };
}

/** A known caller who may not do this. @param text What is not allowed. */
export function notPermitted(text: string): HttpError {
  return httpError("ERR_NOT_PERMITTED", { text });
}

/** The refusal that fits the caller: somebody unknown is asked for credentials, somebody known is turned away. */
export function refusal(
  caller: Caller,
  message: string,
  { unauthenticated }: { readonly unauthenticated: (reason: string) => HttpError },
): HttpError {
  return caller.kind === "anonymous" ? unauthenticated(message) : notPermitted(message);
}
