import { Buffer } from "node:buffer";
import { createHash, randomBytes } from "node:crypto";
import type { DaemonSession } from "../../../daemon/session/daemon_session.ts";
import { type Body, HeaderList, type HttpResponse } from "../../../model/http_message.ts";
import { httpError, invalidRequest, isHttpError } from "../../../model/http_error.ts";
import { nothingThere } from "../../../daemon/session/session_errors.ts";
import { makeDirectories, sizeOf } from "../../../files/files.ts";
import { withinAll } from "../../../files/path_limits.ts";
import { isDirectory, type Share } from "../../../sharing/share.ts";
import type { Call } from "../../call.ts";
import { checkShownToken, FORM_TOKEN } from "../../form.ts";
import { nameOf, parentOf, withoutSlash } from "../../../model/absolute_path.ts";
import { notPermitted } from "../../share/shared_server.ts";
import type { SharingParts } from "../../share/sharing_parts.ts";
import { emptyResponse } from "../../text_response.ts";
import { wantedDigest } from "../../dav/digests.ts";
import { openShareSession } from "../share_session.ts";
import { type OpenedShare, openedShare } from "../opened_share.ts";
import { useShare } from "../use_of_share.ts";
import { fileToWrite } from "../validators.ts";
import type { Upload, UploadId } from "../../../sharing/store/upload_store.ts";
import { deletePart, hasItsName } from "./delete_part.ts";
import { droppedName, firstFree, nthName } from "./dropped_name.ts";
import { formFiles } from "./form_files.ts";
import type { HeldUpload } from "./unfinished_uploads.ts";
import { parseUploadRange, type UploadRange } from "./upload_range.ts";

interface DroppedFile {
  readonly name: string;
  readonly replaced?: boolean;
}

/** Final name of a file: the first free name, or exactly its own if the request's conditions permit replacement. */
type Place = "free" | { readonly conditions: HeaderList };

/**
 * Serves `PUT /rest/access/<server>/<id>/<name>` for `DROP` shares, and with `upload` in the query for writable shares.
 * Missing directories are created. The file is written as `.part` and renamed when complete. With `upload`, a key chosen by
 * the client, it can arrive in pieces (`Content-Range`) and resume.
 * @returns 201 with `Upload-Name` (percent-encoded), 200 if it replaced a file, 202 with `Upload-Offset` while incomplete.
 * @throws {ERR_INVALID_REQUEST | ERR_UPLOAD_OFFSET | ERR_QUOTA_USED | ERR_LENGTH_REQUIRED | ERR_TOO_MANY_UPLOADS |
 * ERR_PRECONDITION_FAILED}
 */
export async function dropUpload(
  call: Call,
  opened: OpenedShare,
  parts: SharingParts,
): Promise<HttpResponse> {
  const { share, path } = opened;
  const name = droppedName(path.slice(share.path.length));
  const key = uploadKey(call);
  const range = parseUploadRange(call.request.headers);
  if (key === undefined && range.kind !== "whole") {
    throw invalidRequest("Content-Range: expected with upload=<key>");
  }
  const place: Place = share.access === "DROP" ? "free" : { conditions: call.request.headers };
  const brought = {
    name,
    key: key ?? randomKey(),
    keyed: key !== undefined,
    range,
    body: call.request.body,
    place,
  };
  const result = await bringOrGiveUp(call, opened, brought, parts);
  if (!("name" in result)) {
    return emptyResponse({ status: 202, headers: { "Upload-Offset": String(result.received) } });
  }
  const digest = await digestOf(call, opened, `${share.path}${result.name}`);
  return emptyResponse({
    status: result.replaced ? 200 : 201,
    headers: {
      "Upload-Name": encodeURIComponent(result.name.toWellFormed()),
      ...digest === undefined ? {} : { "Repr-Digest": digest },
    },
  });
}

/** Returns the digest of what arrived, if the request wants one. Without it the file is there all the same. */
async function digestOf(call: Call, opened: OpenedShare, path: string): Promise<string | undefined> {
  if (!call.request.headers.has("Want-Repr-Digest")) return undefined;
  try {
    using session = await openShareSession(call, opened, { path, permission: "WRITE" }, call.signal);
    const { size } = await session.entry(path);
    return await wantedDigest(session, path, size, call.request.headers);
  } catch (error) {
    call.log.warn("digest of an upload not computed", { path, error });
  }
}

/** Writes a file or a piece; deletes an upload that failed and has no key to resume it. */
async function bringOrGiveUp(
  call: Call,
  opened: OpenedShare,
  brought: Brought,
  parts: SharingParts,
): ReturnType<typeof bring> {
  try {
    return await bring(call, opened, brought, parts);
  } catch (error) {
    const kept = brought.keyed ? undefined : await giveUp(call, opened.share, brought.key, parts);
    if (kept !== undefined) return kept;
    throw error;
  }
}

/**
 * Stores the files of a form one after the other; an error ends it and keeps the earlier files. Files are replaced only with
 * `replace` in the query and access `MODIFY`. Signed-in browsers send the form token before the first file.
 * @returns Final names. @throws {ERR_NOT_PERMITTED | ERR_PAGE_OUTDATED} And as {@link dropUpload}.
 */
export async function dropForm(call: Call, parts: SharingParts): Promise<readonly string[]> {
  const opened = await openedShare(call, ({ access }) => access === "DROP" ? "DROP" : "WRITE", parts);
  const { headers, body } = call.request;
  const { share } = opened;
  const replaces = call.query.has("replace");
  if (replaces && share.access !== "MODIFY") throw notPermitted("Nothing is replaced in this share");
  if (!isDirectory(share)) throw invalidRequest("Files can only be uploaded into a directory");
  const below = `${withoutSlash(opened.path)}/`.slice(share.path.length);
  const place: Place = replaces ? { conditions: new HeaderList() } : "free";
  const length = Number(headers.get("Content-Length") ?? NaN);
  const range = { kind: "whole", length: undefined, most: length >= 0 ? length : undefined } as const;
  const names: string[] = [];
  for await (const file of formFiles(headers.get("Content-Type") ?? "", body)) {
    if (call.signIn !== undefined) {
      checkShownToken(file.fields.get(FORM_TOKEN), call.signIn.formToken);
    }
    const name = droppedName(`${below}${file.name}`);
    const brought = { name, key: randomKey(), keyed: false, range, body: file.body, place };
    const result = await bringOrGiveUp(call, opened, brought, parts);
    if ("name" in result) names.push(result.name);
  }
  return names;
}

/** Deletes an upload that cannot be resumed; if that fails, it expires later. @returns The file, if it was already renamed. */
async function giveUp(
  { log }: Call,
  share: Share,
  key: string,
  parts: SharingParts,
): Promise<DroppedFile | undefined> {
  try {
    const upload = await parts.uploads.unfinished.store.hold(uploadId(share, key), crypto.randomUUID());
    if (upload === undefined || upload === "busy") return undefined;
    return await deletePart(upload, parts) ? { name: keptName(upload, share) } : undefined;
  } catch (error) {
    log.warn("unfinished upload not deleted", { server: share.server, uid: share.uid, error });
  }
}

interface Brought {
  readonly name: string;
  readonly key: string;
  readonly keyed: boolean; // whether the client knows the key and can resume
  readonly range: UploadRange;
  readonly body: Body;
  readonly place: Place;
}

/** Writes a file or a piece. The recorded upload decides what is permitted, not later requests. */
async function bring(
  call: Call,
  opened: OpenedShare,
  brought: Brought,
  parts: SharingParts,
): Promise<DroppedFile | { readonly received: number }> {
  const { share, limits } = opened;
  const { key, keyed, range, place } = brought;
  return await parts.uploads.unfinished.alone(uploadId(share, key), !keyed, async (held) => {
    const known = held.upload;
    if (known?.kept) return { name: keptName(known, share) };
    if (range.kind === "question" && known === undefined && place === "free") return { received: 0 };
    const path = `${share.path}${known?.name ?? brought.name}`;
    if (!withinAll(limits, path)) throw nothingThere("outside of what the owner may reach");
    const use = await useShare(call, share, { kind: "HTTP-upload", path }, parts);
    let result: DroppedFile | { readonly received: number } = { received: 0 };
    let received = 0;
    try {
      const stop = new AbortController();
      const signal = AbortSignal.any([use.signal, held.signal, stop.signal]);
      using session = await openShareSession(call, opened, { path: share.path, permission: "WRITE" }, signal);
      // Fails before the transfer instead of at the rename.
      if (known === undefined && place !== "free") {
        await fileToWrite(session, path, place.conditions, parts.clock());
      }
      if (known === undefined && range.kind === "question") return { received };
      const upload = known ?? await begin(session, held, share, brought, parts);
      if (known !== undefined && await hasItsName(session, known)) {
        await noteFinished(held, keyed, parts);
        return result = { name: keptName(known, share) };
      }
      received = await write(session, upload, { share, ...brought }, known !== undefined);
      const isWhole = upload.total === undefined ? range.kind === "whole" : received === upload.total;
      if (!isWhole) return { received };
      result = await giveName(session, held, { share, place, keyed, signal, stop }, parts);
      return result;
    } finally {
      await ("name" in result ? use.finish({ bytes: received, complete: true }) : use.giveBack());
    }
  });
}

/** Reserves quota and records the upload in an existing directory: only a complete file creates directories. */
async function begin(
  session: DaemonSession,
  held: HeldUpload,
  share: Share,
  { name, range }: Brought,
  { uploads: { unfinished } }: SharingParts,
): Promise<Upload> {
  const total = range.kind === "whole" ? range.length : range.total;
  const reserved = total ?? (range.kind === "whole" ? range.most : undefined);
  if (reserved === undefined && share.quota?.bytes !== undefined) throw httpError("ERR_LENGTH_REQUIRED");
  const { directory } = await deepestDirectory(session, share, name);
  const part = `${directory}${nameOf(name)}.${held.id.key}.part`;
  const { uid, gid } = share;
  const planned = {
    ...held.id,
    uid,
    gid,
    part,
    name,
    total,
    files: 1,
    bytes: reserved ?? 0,
    kept: false,
  };
  held.upload = await unfinished.store.begin(planned, held.holder);
  if (held.upload === undefined) {
    throw httpError("ERR_UPLOAD_INCOMPLETE", "another request has just begun it");
  }
  return held.upload;
}

/** Returns the deepest existing directory of a name and the number of missing directories below it. */
async function deepestDirectory(
  session: DaemonSession,
  share: Share,
  name: string,
): Promise<{ readonly directory: string; readonly missing: number }> {
  const directories = name.split("/").slice(0, -1);
  let directory = share.path;
  for (const [i, next] of directories.entries()) {
    if (!await isDirectoryThere(session, `${directory}${next}`)) {
      return { directory, missing: directories.length - i };
    }
    directory += `${next}/`;
  }
  return { directory, missing: 0 };
}

/** @throws {ERR_INVALID_REQUEST} If the path is a file. */
async function isDirectoryThere(session: DaemonSession, path: string): Promise<boolean> {
  try {
    if ((await session.entry(path)).kind === "directory") return true;
  } catch (error) {
    if (isHttpError(error, "ERR_NOT_FOUND")) return false;
    throw error;
  }
  throw invalidRequest("There is a file where a directory is to be");
}

/** Reserves the quota that was unknown at the beginning and creates the directories; each counts as a file. */
async function settle(
  session: DaemonSession,
  { id, holder, upload }: HeldUpload,
  { share, signal }: { readonly share: Share; readonly signal: AbortSignal },
  { uploads: { locks, unfinished: { store } } }: SharingParts,
): Promise<void> {
  if (upload === undefined) return;
  const endTurn = await locks.takeHere(share.server, share.path, signal);
  try {
    const { missing } = await deepestDirectory(session, share, upload.name);
    const bytes = upload.total ?? await sizeOf(session, upload.part) ?? 0;
    // An earlier request may have created directories.
    const files = Math.max(upload.files, 1 + missing);
    if (files !== upload.files || bytes !== upload.bytes) await store.resize(id, holder, { files, bytes });
    if (missing > 0) await makeDirectories(session, parentOf(`${share.path}${upload.name}`));
  } finally {
    endTurn();
  }
}

/** @returns Offset after the write. */
async function write(
  session: DaemonSession,
  { part, total, bytes }: Upload,
  { share, range, body }: Pick<Brought, "range" | "body"> & { readonly share: Share },
  known: boolean,
): Promise<number> {
  const size = known ? await sizeOf(session, part) ?? 0 : 0;
  const there = total !== undefined && size > total ? 0 : size;
  if (range.kind === "question") return there;
  if (range.kind === "piece" && (range.first !== there || range.total !== total)) {
    throw httpError("ERR_UPLOAD_OFFSET", { offset: String(there) });
  }
  if (
    range.kind === "whole" && known && range.length !== undefined && range.length !== (total ?? range.length)
  ) {
    throw invalidRequest("The upload began with another length");
  }
  const first = range.kind === "piece" ? range.first : 0;
  const most = range.kind === "piece"
    ? range.length
    : total ?? (share.quota?.bytes === undefined ? Infinity : bytes);
  let sent = 0;
  await session.upload(part, body, {
    first,
    length: range.length,
    most,
    progress: (bytes) => {
      sent = bytes;
    },
  });
  return first + sent;
}

/** Attempts to find a free name under contention. */
const MOST_TRIES = 50;

/** Records the final name before the rename, and completion after it: later requests can tell what was done. */
async function giveName(
  session: DaemonSession,
  held: HeldUpload,
  { share, place, keyed, signal, stop }: {
    readonly share: Share;
    readonly place: Place;
    readonly keyed: boolean;
    readonly signal: AbortSignal;
    readonly stop: AbortController;
  },
  parts: SharingParts,
): Promise<DroppedFile> {
  const { uploads: { locks, unfinished: { store } } } = parts;
  const { id, holder, upload } = held;
  if (upload === undefined) throw new TypeError("nothing was brought");
  const taken = new Set<number>();
  const pathOf = (n: number) => `${share.path}${nthName(upload.name, n)}`;
  const isTaken = async (n: number) => taken.has(n) || await sizeOf(session, pathOf(n)) !== undefined;
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    const n = place === "free" ? await firstFree(isTaken) : 1;
    if (n === undefined) throw httpError("ERR_QUOTA_USED", "too many files of one name");
    const endTurn = await locks.take(share.server, pathOf(n), signal, (reason) => stop.abort(reason));
    let isRenaming = false;
    try {
      const isNoted = await store.name(id, holder, pathOf(n));
      if (!isNoted || (place === "free" && await isTaken(n))) {
        taken.add(n);
        if (place !== "free") await new Promise((resolve) => setTimeout(resolve, 100));
        continue;
      }
      const existing = place !== "free" &&
        await fileToWrite(session, pathOf(n), place.conditions, parts.clock()) !== undefined;
      await settle(session, held, { share, signal }, parts);
      signal.throwIfAborted();
      isRenaming = true;
      await session.rename(upload.part, pathOf(n));
      await noteFinished(held, keyed, parts);
      return { name: nthName(upload.name, n), replaced: existing };
    } catch (error) {
      if (!isRenaming || isHttpError(error, "ERR_ACCESS_REFUSED")) {
        await store.name(id, holder, undefined).catch(() => false);
      }
      throw error;
    } finally {
      endTurn();
    }
  }
  throw httpError("ERR_UPLOAD_INCOMPLETE", "others took each name");
}

/** Records completion. After a failure, the recorded name tells the next reader. */
async function noteFinished(
  held: HeldUpload,
  keyed: boolean,
  { uploads: { unfinished }, uses }: SharingParts,
): Promise<void> {
  held.over = true;
  await uses.attempt(() => unfinished.store.finish(held.id, keyed));
}

/** Readers of the directory see the digest; to go on with an upload takes the key. */
function uploadId({ server, id }: Share, key: string): UploadId {
  const digest = createHash("sha256").update(`${server}/${id}/${key}`).digest("hex").slice(0, 32);
  return { server, share: id, key: digest };
}

/** The name that a file got, below the share. */
function keptName({ target, name }: Upload, { path }: Share): string {
  return target === undefined ? name : target.slice(path.length);
}

/** Returns the key that a client chose for an upload. @throws {ERR_INVALID_REQUEST} */
export function uploadKey({ query }: Call): string | undefined {
  const key = query.get("upload");
  if (key === null) return undefined;
  if (!/^[0-9A-Za-z]{20,32}$/.test(key)) {
    throw invalidRequest("upload: expected 20 to 32 letters and digits, chosen at random");
  }
  return key;
}

function randomKey(): string {
  return Buffer.from(randomBytes(12)).toString("hex");
}
