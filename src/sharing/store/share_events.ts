import { createHash } from "node:crypto";
import type { NotifiedEvent } from "../../notify/event.ts";
import type { Share, UseStart } from "../share.ts";

/** Returns an event of a share, with a digest in place of its id, which is the secret of a link. */
function shareEvent(
  type: NotifiedEvent["type"],
  { server, id, owner, uid, target, path, access }: Share,
  more: NotifiedEvent["data"],
): NotifiedEvent {
  const share = createHash("sha256").update(`${server}/${id}`).digest("hex").slice(0, 32);
  return {
    type,
    stream: `share ${share}`,
    data: { share, server, owner, account: uid, target, path, access, ...more },
  };
}

/** Returns the event of a new or renewed share. */
export function shareCreated(share: Share, renewed: boolean): NotifiedEvent {
  const expires = share.expires === 0 ? undefined : new Date(share.expires * 1000).toISOString();
  return shareEvent("share.created", share, { renewed, expires, usesLeft: share.usesLeft });
}

/** Returns the event of a download or session that begins. */
export function shareUsed(share: Share, { who, address, kind, path }: UseStart): NotifiedEvent {
  return shareEvent("share.used", share, { by: who, client: address, via: kind, file: path });
}

/** Returns the event of a share that can no longer be used. */
export function shareEnded(share: Share, reason: "expired" | "removed" | "used up"): NotifiedEvent {
  return shareEvent("share.ended", share, { reason });
}

/** Returns the event of a share without further uses. */
export function usedUp(share: Share): readonly NotifiedEvent[] {
  return share.usesLeft === 0 ? [shareEnded(share, "used up")] : [];
}

/** Returns the event of an uploaded file. @param file Absolute path. */
export function fileArrived(share: Share, file: string, bytes: number): NotifiedEvent {
  const name = file.startsWith(share.path) && file !== share.path ? file.slice(share.path.length) : file;
  return { ...shareEvent("files.arrived", share, { name, bytes }), mailTo: share.mail };
}
