import type { AttributeSource } from "../../attributes/attribute_source.ts";
import { attributesOnServer } from "../../attributes/server_attributes.ts";
import { userAttributes } from "../../attributes/user_attributes.ts";
import type { Logger } from "../../logging/logger.ts";
import type { OwnerLimits } from "../../sharing/rules/owner_limits.ts";
import type { Share } from "../../sharing/share.ts";
import { ShareNotFound } from "./sharing_errors.ts";

/**
 * Looks up what the owner of a share may reach at the moment of its use. Includes and excludes come from the attribute
 * sources alone, so the owner need not be there; a source that is out of order fails the use. Shares of an owner who
 * was banned are as good as gone, and so are those under an account that is not the owner's any more.
 */
export function ownerLimitsNow(
  source: AttributeSource,
  log: Logger,
): (share: Share, signal: AbortSignal) => Promise<OwnerLimits> {
  return async ({ owner, server, uid }, signal) => {
    // The account may have come from the owner's authentication, of which there is none now.
    const identity = { dn: owner, method: "SHARE", via: "share", uid };
    const user = await userAttributes(source, identity, { preferences: {}, signal });
    if (user.role === "banned") throw new ShareNotFound("the owner is banned");
    const account = user.uid === undefined || user.availableUids.includes(uid) ? uid : user.uid;
    const now = attributesOnServer({ ...user, uid: account }, server, { log });
    if (now.uid !== uid) throw new ShareNotFound("the account is not the owner's any more");
    const { includes, excludes } = now;
    return { ...(includes !== undefined && { includes }), ...(excludes !== undefined && { excludes }) };
  };
}
