import { canonicalDn } from "../../model/distinguished_name.ts";
import { groupOf, isDirectory, type Share, type Use } from "../../sharing/share.ts";

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
    // `pyuftp` requests the folder of a file; only the id identifies the file.
    uftp: `${base}/rest/access/${server}${isDirectory(share) ? "" : `/${id}`}:${path}`,
  };
}

/** Returns a share as JSON for its owner. @param base Base of links. */
export function ownersView(share: Share, base: string, now: number) {
  return {
    id: share.id,
    user: share.target,
    directory: isDirectory(share),
    ...(share.sources.length > 0 && { sources: share.sources }),
    ...(share.usesLeft === 0 && { usedUp: true }),
    notify: share.mail === undefined ? undefined : true,
    maxFiles: share.quota?.files,
    maxBytes: share.quota?.bytes,
    ...(share.access === "DROP" && { received: share.received ?? { files: 0, bytes: 0 } }),
    ...common(share, base, now),
  };
}

/** Returns a share as JSON for its target; with `user` for groups. */
export function targetsView(share: Share, base: string, now: number) {
  const { owner, target } = share;
  return { owner, ...(groupOf(target) !== undefined && { user: target }), ...common(share, base, now) };
}

/** Returns a use as JSON for the owner. */
export function useView({ at, who, address, kind, path, bytes, complete }: Use) {
  return {
    time: new Date(at).toISOString(),
    user: canonicalDn(who),
    client: address,
    via: kind,
    path,
    bytes,
    complete,
  };
}
