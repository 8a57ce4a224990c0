import type { HttpResponse } from "../../model/http_message.ts";
import { httpError } from "../../model/http_error.ts";
import type { Call } from "../call.ts";
import { statusText } from "../server_facts.ts";
import { jsonResponse } from "../text_response.ts";
import { ownShare } from "./own_share.ts";
import { ownersView, useView } from "./share_json.ts";
import { sharedServer } from "./shared_server.ts";
import type { SharingParts } from "./sharing_parts.ts";
import { userInfo } from "./user_info.ts";

const SHOWN_USES = 100;

/** Serves `GET /rest/share/<server>/<id>`: a share of the caller with its uses, even if it is used up. */
export async function readShare(call: Call, parts: SharingParts): Promise<HttpResponse> {
  const { name, facts } = sharedServer(call, parts);
  const share = await ownShare(call, name, parts);
  if (share === undefined) throw httpError("ERR_SHARE_NOT_FOUND");
  const uses = await parts.store.usesOf(name, share.id, SHOWN_USES);
  return jsonResponse({
    share: { ...ownersView(share, call.base, parts.clock()), uses: uses.map(useView) },
    owner: share.owner,
    status: statusText(facts.daemons.status(), call.caller.kind !== "anonymous"),
    userInfo: userInfo(call, [name]),
  });
}
