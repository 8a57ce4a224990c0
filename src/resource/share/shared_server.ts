import type { SessionClient } from "../../daemon/session/session_client.ts";
import { refuse } from "../../model/service_error.ts";
import type { Call } from "../call.ts";
import { type ExistingServer, existingServer } from "../requested_server.ts";
import type { SharingParts } from "./sharing_parts.ts";

/** The logical server of a request, with the one instance it names, if it does (D24). */
export interface SharedServer extends ExistingServer {
  readonly sessions: SessionClient;
}

/** @throws {ERR_UNKNOWN_SERVER} If there is none of that name, or it has no sharing. */
export function sharedServer(call: Call, { sessions }: SharingParts): SharedServer {
  const server = existingServer(call.server);
  const client = sessions.get(server.name);
  if (client === undefined || !server.facts.sharing) throw refuse("ERR_UNKNOWN_SERVER");
  return { ...server, sessions: client };
}
