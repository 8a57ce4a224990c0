import { EVERYBODY } from "../../sharing/everybody.ts";
import type { Call } from "../call.ts";
import { statusText } from "../server_facts.ts";
import { jsonResponse, type WholeResponse } from "../text_response.ts";
import { nameOnServer } from "./names.ts";
import { ownersView, targetsView } from "./share_json.ts";
import { sharedServer } from "./shared_server.ts";
import type { SharingParts } from "./sharing_parts.ts";
import { userInfo } from "./user_info.ts";

/** `GET /rest/share`: the servers with sharing. */
export function listSharedServers(call: Call, { servers, sessions }: SharingParts): WholeResponse {
  const entries: Record<string, unknown> = {};
  for (const { name, description, sharing, daemons } of servers.values()) {
    if (!sharing || !sessions.has(name)) continue;
    entries[name] = {
      href: `${call.base}/rest/share/${name}`,
      description,
      status: statusText(daemons.status()),
    };
  }
  return jsonResponse({ ...entries, userInfo: userInfo(call) }, { indent: 2 });
}

/** `GET /rest/share/<server>`: what the caller shares, and what is shared with the caller. */
export async function listShares(call: Call, parts: SharingParts): Promise<WholeResponse> {
  const { name, facts } = sharedServer(call, parts);
  const { store, clock } = parts;
  // What is shared with everybody is known by its link only (D12).
  const caller = nameOnServer(call, name);
  const known = caller !== EVERYBODY;
  const own = known ? await store.ownedBy(name, caller) : [];
  const accessible = known ? await store.targetedAt(name, caller) : [];
  return jsonResponse({
    shares: own.map((share) => ownersView(share, call.base, clock())),
    accessible: accessible.map((share) => targetsView(share, call.base, clock())),
    status: statusText(facts.daemons.status()),
    userInfo: userInfo(call, name),
  });
}
