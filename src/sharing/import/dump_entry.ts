import { isDirectory, type Share } from "../share.ts";

/** A share as an entry of a JSON dump, which {@link parseShareDump} reads: for backups, and to move shares elsewhere. */
export function dumpEntry(share: Share) {
  const { server, id, path, owner, uid, gid, target, access, oneTime, usesLeft, expires } = share;
  return {
    server,
    id,
    path,
    isDirectory: isDirectory(share),
    ownerID: owner,
    uid,
    ...(gid !== undefined && { gid }),
    targetID: target,
    access,
    oneTime,
    ...(usesLeft !== undefined && { usesLeft }),
    expires,
    accessCount: share.accessCount,
    ...(share.sources.length > 0 && { sources: share.sources }),
  };
}
