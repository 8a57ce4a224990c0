import type { HttpResponse } from "../../model/http_message.ts";
import type { Call } from "../call.ts";
import { emptyResponse } from "../text_response.ts";
import { ownShare } from "./own_share.ts";
import { sharedServer } from "./shared_server.ts";
import type { SharingParts } from "./sharing_parts.ts";

/** Serves `DELETE /rest/share/<server>/<id>`; an unknown id is no error. */
export async function deleteShare(call: Call, parts: SharingParts): Promise<HttpResponse> {
  const { name } = sharedServer(call, parts);
  const share = await ownShare(call, name, parts);
  if (share !== undefined && await parts.store.remove(name, share.id)) {
    call.audit({ server: name, owner: share.owner, path: share.path });
  }
  return emptyResponse();
}
