import type { Share } from "../../sharing/share.ts";
import { isShareId } from "../../sharing/share_id.ts";
import type { Call } from "../call.ts";
import { nameOnServer } from "./names.ts";
import { checkTokenShare } from "../token_limits.ts";
import { refusal } from "./sharing_errors.ts";
import type { SharingParts } from "./sharing_parts.ts";

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
