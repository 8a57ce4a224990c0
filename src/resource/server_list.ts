import type { HttpResponse } from "../model/http_message.ts";
import { ANONYMOUS_DN, restrictionsOf } from "../model/identity.ts";
import type { Call } from "./call.ts";
import { existingServer } from "./requested_server.ts";
import { type EntryAudience, serverEntry } from "./server_entry.ts";
import type { ServerFacts } from "./server_facts.ts";
import type { ServiceSection } from "./service_section.ts";
import { jsonResponse, textResponse } from "./text_response.ts";

/** Serves `GET /rest/auth`: all servers with the caller's rights (rest-api.md 1.9). */
export function serverList(
  call: Call,
  servers: ReadonlyMap<string, ServerFacts>,
  service: ServiceSection,
): HttpResponse {
  const audience = entryAudience(call);
  const entries = Object.fromEntries(
    [...servers.values()].map((server) => [server.name, serverEntry(server, audience)]),
  );
  const begin = JSON.stringify({ ...entries, client: client(call) }, undefined, 2).slice(0, -"\n}".length);
  return textResponse(`${begin},\n  "server": ${service.textFor(call.caller)}\n}`, "application/json");
}

/** Serves `GET /rest/auth/<server>`. */
export function serverDetail(call: Call): HttpResponse {
  return jsonResponse(serverEntry(existingServer(call.server).facts, entryAudience(call)), { indent: 2 });
}

/** Returns the recipient of entries for a call. */
export function entryAudience({ base, caller, clientAddress, user, log }: Call): EntryAudience {
  return {
    base,
    user: caller.kind === "anonymous" ? undefined : user,
    bounds: restrictionsOf(caller),
    missing: ({ logins }) => logins?.missing(caller, [clientAddress]),
    log,
  };
}

function client({ caller, user }: Call) {
  if (caller.kind === "anonymous") return { dn: ANONYMOUS_DN, xlogin: {}, role: { selected: "anonymous" } };
  const { uid, availableUids, group, availableGroups, supplementaryGroups, role, availableRoles } = user;
  const xlogin = uid === undefined ? {} : {
    UID: uid,
    availableUIDs: availableUids,
    group,
    availableGroups,
    ...(supplementaryGroups.length > 0 && { selectedSupplementaryGroups: supplementaryGroups }),
  };
  return {
    dn: caller.identity.dn,
    xlogin,
    role: { selected: role, availableRoles },
    authenticationMethod: caller.identity.method,
    capabilities: caller.identity.capabilities,
  };
}
