import type { Share } from "../../sharing/share.ts";
import { isShareId } from "../../sharing/share_id.ts";
import type { Call } from "../call.ts";
import { nameOnServer } from "./names.ts";
import { checkTokenShare } from "../token_limits.ts";
import { refusal } from "./sharing_errors.ts";
import type { SharingParts } from "./sharing_parts.ts";

/**
 * The share that a request names by its id, if it is the caller's own; undefined if there is none of that id.
 * @throws 403, or 401 without credentials, if it is somebody else's; 403 if the caller's token is good for less.
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
