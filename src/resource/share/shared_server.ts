import type { SessionClient } from "../../daemon/session/session_client.ts";
import { httpError } from "../../model/http_error.ts";
import type { Call } from "../call.ts";
import { type ExistingServer, existingServer } from "../requested_server.ts";
import { checkLogin } from "../login_policy.ts";
import { checkTokenServer } from "../token_limits.ts";
import type { SharingParts } from "./sharing_parts.ts";

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
