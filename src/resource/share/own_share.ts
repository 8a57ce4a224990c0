import { isShareId, type Share } from "../../sharing/share.ts";
import type { Call } from "../call.ts";
import { nameOnServer } from "./names.ts";
import { checkTokenShare } from "../token_limits.ts";
import { refusal, sharedServer } from "./shared_server.ts";
import type { SharingParts } from "./sharing_parts.ts";
import type { HttpResponse } from "../../model/http_message.ts";
import { emptyResponse } from "../text_response.ts";

/**
 * Returns the caller's share that a request names by id.
 * @throws 403, or 401 without credentials, for others' shares; 403 if the token's restrictions do not cover it.
 */
export async function ownShare(call: Call, server: string, parts: SharingParts): Promise<Share | undefined> {
  const id = call.params.get("id") ?? "";
  const share = isShareId(id) ? await parts.store.get(server, id) : undefined;
  if (share === undefined) return undefined;
  if (call.caller.kind === "anonymous" || share.owner !== nameOnServer(call, server)) {
    throw refusal(call.caller, "This share belongs to somebody else", parts);
  }
  checkTokenShare(call, share);
  return share;
}

/** Serves `DELETE /rest/share/<server>/<id>`; an unknown id is no error. */
export async function deleteShare(call: Call, parts: SharingParts): Promise<HttpResponse> {
  const { name } = sharedServer(call, parts);
  const share = await ownShare(call, name, parts);
  if (share !== undefined && await parts.store.remove(name, share.id)) {
    call.audit({ server: name, owner: share.owner, path: share.path });
  }
  return emptyResponse();
}
