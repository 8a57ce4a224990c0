import { EVERYBODY, isDirectory, type Share } from "../../sharing/share.ts";
import { nameOf, withoutSlash } from "../../model/absolute_path.ts";
import type { Call } from "../call.ts";
import { shellWord } from "../command_lines.ts";
import type { Listing, ShareFacts, UploadTarget, UploadView } from "./listing.ts";

/** Returns the facts of a share for people. @param shown Path, or pattern of paths, for `pyuftp`. */
export function shareFacts({ base, userName }: Call, share: Share, shown: string): ShareFacts {
  const { server, id, target, owner, made, expires, oneTime, usesLeft, password } = share;
  const user = password !== undefined && target === EVERYBODY
    ? "-u ':<password>'"
    : target === EVERYBODY
    ? "-u anonymous"
    : userName === undefined
    ? "-u <user> -i ~/.ssh/id_ed25519"
    : `-u ${shellWord(userName)} -P`;
  // The id names this share even if others cover the path.
  const address = shellWord(`${base}/rest/access/${server}/${id}:${shown}`);
  return {
    name: shareName(share),
    owner: made?.owner.dn ?? owner,
    ownerName: made?.owner.name,
    expires,
    note: share.note,
    help: `${base}/help`,
    counted: oneTime || usesLeft !== undefined,
    command: `pyuftp cp ${isDirectory(share) ? "-r " : ""}${user} ${address} .`,
  };
}

/** Returns an upload share for people who upload. */
export function uploadView(call: Call, share: Share, now: number): UploadView {
  const { server, id, quota, received = { files: 0, bytes: 0 } } = share;
  const credentials = share.password !== undefined && share.target === EVERYBODY
    ? "-u ':<password>' "
    : share.target === EVERYBODY
    ? ""
    : call.userName === undefined
    ? "-H 'Authorization: Bearer <token>' "
    : `-u ${shellWord(call.userName)} `;
  const left = (most: number | undefined, there: number) =>
    most === undefined ? undefined : Math.max(0, most - there);
  return {
    share: shareFacts(call, share, share.path),
    ...uploadTarget(call, share, share.path),
    command: `curl -T <file> ${credentials}${shellWord(`${call.base}/rest/access/${server}/${id}/`)}`,
    quota: quota && { files: left(quota.files, received.files), bytes: left(quota.bytes, received.bytes) },
    now,
  };
}

/** Returns the upload destination for a directory of a share; only `MODIFY` permits replacement. */
export function uploadTarget(
  { root, signIn }: Pick<Call, "root" | "signIn">,
  { server, id, path, access }: Share,
  directory: string,
): UploadTarget {
  const place = `${encodeURIComponent(server)}/${id}`;
  const below = encodePath(directory.slice(path.length));
  return {
    to: `${root}${signIn === undefined ? "rest/access" : "shared"}/${place}/${below}`,
    form: `${root}${signIn === undefined ? "drop" : "shared"}/${place}${below && `/${below}`}`,
    taken: access === "DROP" ? "rename" : access === "MODIFY" ? "ask" : "leave",
    formToken: signIn?.formToken,
  };
}

function shareName({ server, path }: Share): string {
  return nameOf(withoutSlash(path)) || server;
}

/** Returns the address of a share; for signed-in browsers a page of theirs, since `/rest/` ignores sign-ins. */
export function shareAddress(
  { base, root, signIn }: Pick<Call, "base" | "root" | "signIn">,
  { server, id }: Share,
): string {
  return signIn === undefined ? `${base}/rest/access/${server}/${id}` : `${root}shared/${server}/${id}`;
}

/** Returns links from the shared directory down to this one. @param directory Absolute, with a slash at its end. */
export function trailTo(call: Call, share: Share, directory: string): Listing["trail"] {
  const below = directory.slice(share.path.length).split("/").slice(0, -1);
  const trail = [{ name: shareName(share), href: `${shareAddress(call, share)}/` }];
  for (const name of below) {
    trail.push({ name, href: `${trail.at(-1)?.href ?? ""}${encodePath(name)}/` });
  }
  return trail;
}

/** Percent-encodes each segment of a path. */
export function encodePath(path: string): string {
  return path.split("/").map(encodeURIComponent).join("/");
}
