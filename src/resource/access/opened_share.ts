import { nothingThere } from "../../daemon/session/session_errors.ts";
import { type PathLimits, withinAll } from "../../files/path_limits.ts";
import {
  type AccessLevel,
  EVERYBODY,
  grants,
  groupOf,
  isDirectory,
  isExpired,
  isShareId,
  type Share,
} from "../../sharing/share.ts";
import { addressInRange } from "../../model/address.ts";
import { attempt } from "../../model/attempt.ts";
import { httpError } from "../../model/http_error.ts";
import type { Call } from "../call.ts";
import { isOwnerPreview, shownName, targetsOnServer } from "../share/names.ts";
import { notPermitted, refusal, type SharedServer, sharedServer } from "../share/shared_server.ts";
import { checkLinkPassword } from "./link_password.ts";
import { uploadId } from "./drop/recorded_upload.ts";
import { shareVisitor } from "./share_visitor.ts";
import { checkTokenUse } from "../token_limits.ts";
import type { SharingParts } from "../share/sharing_parts.ts";
import { hasForbiddenCharacter, invalidPath } from "../../model/absolute_path.ts";

/** Share that the caller may use, with the requested path in it. */
export interface OpenedShare {
  readonly server: SharedServer;
  readonly share: Share;
  readonly path: string; // absolute, within the share; ends in a slash if a directory was requested
  readonly limits: readonly PathLimits[]; // the owner's limits; all apply
}

/**
 * Returns the share of `/rest/access/<server>/<id>[/<path>]` if the caller may use it.
 * @param before Earlier result of the same request: its password need not be checked again.
 * @throws {ERR_UNKNOWN_SERVER | ERR_SHARE_NOT_FOUND | ERR_NOT_FOUND | ERR_NOT_PERMITTED} Or 401 for anonymous callers.
 */
export async function openedShare(
  call: Call,
  wantedOf: (share: Share) => AccessLevel,
  parts: SharingParts,
  before?: OpenedShare,
): Promise<OpenedShare> {
  const server = sharedServer(call, parts);
  const id = call.params.get("id") ?? "";
  const share = isShareId(id) ? await parts.store.get(server.name, id) : undefined;
  if (share === undefined || isExpired(share, parts.clock())) throw httpError("ERR_SHARE_NOT_FOUND");
  const wanted = wantedOf(share);
  if (!isOwnerPreview(call, share)) {
    await checkUsesLeft(call, share, parts);
    checkUser(call, share, wanted, parts);
    if (share.password !== before?.share.password) await checkLinkPassword(call, share, parts);
  }
  const path = containedPath(share, call.params.get("rest")?.split("/") ?? [], call.request.method === "PUT");
  checkTokenUse(call, path, wanted);
  return { server, share, path, limits: await checkOwner(share, path, call.signal, parts) };
}

/** Checks that uses are left, or that the caller's last one continues, as with a lost answer. @throws {ERR_SHARE_NOT_FOUND} */
async function checkUsesLeft(call: Call, share: Share, { store }: SharingParts): Promise<void> {
  if (share.usesLeft !== 0) return;
  const { server, id } = share;
  const { method, headers } = call.request;
  const key = method === "PUT" ? call.query.get("upload") : null;
  if (key !== null && await store.uploads.isFinished(uploadId({ server, share: id, key }))) return;
  const who = shownName(call, server);
  const visitor = shareVisitor(call, share).digest;
  const person = { who, address: call.clientAddress, visitor, ranged: headers.has("Range") };
  const continues = method !== "PUT" && method !== "POST" && await store.canContinue(server, id, person);
  if (!continues) throw httpError("ERR_SHARE_NOT_FOUND", "used up");
}

/** Checks the caller's access; the owner has no special right except to look, see `isOwnerPreview()`. */
export function checkUser(call: Call, share: Share, wanted: AccessLevel, parts: SharingParts): void {
  if (share.target !== EVERYBODY && !targetsOnServer(call, share.server).includes(share.target)) {
    const outage = groupOf(share.target) === undefined ? undefined : call.user.outage;
    throw outage ?? refusal(call.caller, "This share is for somebody else", parts);
  }
  const { sources } = share;
  if (sources.length > 0 && !sources.some((range) => addressInRange(call.clientAddress, range))) {
    throw notPermitted("This share cannot be used from your address");
  }
  if (grants(granted(share, parts), wanted)) return;
  throw notPermitted(`This share is for ${share.access === "DROP" ? "uploading" : "reading"} only`);
}

/** Returns the access within the operator's policy. */
export function granted({ access }: Share, { allowWriteAccess }: SharingParts): AccessLevel {
  if (allowWriteAccess || access === "READ") return access;
  return access === "DROP" ? "NONE" : "READ";
}

/** Checks that the owner may still reach the path (D20). @returns The owner's limits. @throws {ERR_NOT_FOUND | ERR_SHARE_NOT_FOUND} */
export async function checkOwner(
  share: Share,
  path: string,
  signal: AbortSignal,
  { owners }: SharingParts,
): Promise<readonly PathLimits[]> {
  const limits = await owners.limits(share, signal);
  if (!withinAll(limits, path)) throw nothingThere("outside of what the owner may reach");
  return limits;
}

/**
 * Resolves a request path inside a share, never outside (D7).
 * @param segments Percent-encoded path after the share's id, split at `/`; a last empty segment requests a directory.
 * @param writes Whether the path names a new file. @throws {ERR_INVALID_PATH} For a new name with control characters.
 * @throws {ERR_NOT_FOUND} For invalid UTF-8, `.`, `..`, encoded slashes, control characters, or a path below a file.
 */
export function containedPath(
  share: Pick<Share, "path">,
  segments: readonly string[],
  writes = false,
): string {
  if (segments.length === 0) return share.path;
  if (!isDirectory(share)) throw nothingThere("path below a share of a single file");
  const parts = decodedSegments(segments, writes);
  const wantsDirectory = segments.at(-1) === "" && parts.length > 0;
  return `${share.path}${parts.join("/")}${wantsDirectory ? "/" : ""}`;
}

/** Decodes the segments of a path, without empty ones. @throws As {@link containedPath}. */
export function decodedSegments(segments: readonly string[], writes = false): readonly string[] {
  const parts = segments.map(decodedSegment).filter((part) => part !== "");
  for (const part of parts) {
    if (hasForbiddenCharacter(part) && writes) throw invalidPath("it contains control characters");
    if (part === "." || part === ".." || part.includes("/") || hasForbiddenCharacter(part)) {
      throw nothingThere("path segment that could lead elsewhere");
    }
  }
  return parts;
}

/** Decodes a path segment. @throws {ERR_NOT_FOUND} */
export function decodedSegment(segment: string): string {
  return attempt(() => decodeURIComponent(segment), URIError, (error) => {
    throw nothingThere("path segment with a broken percent encoding", error);
  });
}
