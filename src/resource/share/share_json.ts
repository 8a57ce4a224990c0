import { isDirectory, type Share, type Use } from "../../sharing/share.ts";
import { groupOf } from "../../sharing/target.ts";

/** Members that owner and target both see (rest-api.md 1.12). */
function common(share: Share, base: string, now: number) {
  const { server, id, path, access, expires, oneTime, usesLeft, accessCount, note, password } = share;
  return {
    path,
    access,
    ...(expires > 0 && { lifetime: Math.max(0, expires - Math.floor(now / 1000)) }),
    onetime: oneTime,
    accessCount,
    ...(usesLeft !== undefined && !oneTime && { usesLeft }),
    note,
    password: password === undefined ? undefined : true,
    http: `${base}/rest/access/${server}/${id}`,
    // `pyuftp` asks for the folder of a file, and only the id tells which of the files in it is meant.
    uftp: `${base}/rest/access/${server}${isDirectory(share) ? "" : `/${id}`}:${path}`,
  };
}

/** A share as its owner sees it. @param base Base of links. @param now Milliseconds since the epoch. */
export function ownersView(share: Share, base: string, now: number) {
  return {
    id: share.id,
    user: share.target,
    directory: isDirectory(share),
    ...(share.sources.length > 0 && { sources: share.sources }),
    ...(share.usesLeft === 0 && { usedUp: true }),
    maxFiles: share.quota?.files,
    maxBytes: share.quota?.bytes,
    ...(share.access === "DROP" && { received: share.received ?? { files: 0, bytes: 0 } }),
    ...common(share, base, now),
  };
}

/** A share as the one sees it for whom it is; `user` where that is a group. */
export function targetsView(share: Share, base: string, now: number) {
  const { owner, target } = share;
  return { owner, ...(groupOf(target) !== undefined && { user: target }), ...common(share, base, now) };
}

/** A use as the share's owner sees it; `bytes` and `complete` once they are known. */
export function useView({ at, who, address, kind, path, bytes, complete }: Use) {
  return {
    time: new Date(at).toISOString(),
    user: who,
    client: address,
    via: kind,
    path,
    bytes,
    complete,
  };
}
