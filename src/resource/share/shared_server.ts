import type { SessionClient } from "../../daemon/session/session_client.ts";
import { httpError } from "../../model/http_error.ts";
import type { Call } from "../call.ts";
import { type ExistingServer, existingServer } from "../requested_server.ts";
import { checkLogin } from "../login_policy.ts";
import { checkTokenServer } from "../token_limits.ts";
import type { SharingParts } from "./sharing_parts.ts";

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
