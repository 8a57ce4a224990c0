import type { SessionClient } from "../../daemon/session/session_client.ts";
import type { Call } from "../call.ts";
import { UnknownServer } from "../request_errors.ts";
import { parseServerAddress } from "../server_address.ts";
import type { ServerFacts } from "../server_facts.ts";
import type { SharingParts } from "./sharing_parts.ts";

/** The logical server of a request, with the one instance it names, if it does (D24). */
export interface SharedServer {
  readonly name: string;
  readonly facts: ServerFacts;
  readonly sessions: SessionClient;
  readonly instance?: number;
}

/** @throws {UnknownServer} If there is none of that name, or it has no sharing. */
export function sharedServer(call: Call, { servers, sessions }: SharingParts): SharedServer {
  const { name, instance } = parseServerAddress(call.params.get("server") ?? "");
  const facts = servers.get(name);
  const client = sessions.get(name);
  if (facts === undefined || client === undefined || !facts.sharing) throw new UnknownServer();
  if (instance === undefined) return { name, facts, sessions: client };
  if (instance < 1 || instance > facts.daemons.size) throw new UnknownServer();
  return { name, facts, sessions: client, instance };
}
