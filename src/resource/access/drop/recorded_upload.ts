import { createHash } from "node:crypto";
import type { ChecksumAlgorithm } from "../../../daemon/session/control_connection.ts";
import type { DaemonSession } from "../../../daemon/session/daemon_session.ts";
import { nothingThere } from "../../../daemon/session/session_errors.ts";
import { createWithMode, endOfName, find, makeDirectories, sizeOf } from "../../../files/files.ts";
import { nameOf, parentOf } from "../../../model/absolute_path.ts";
import { httpError, invalidRequest, isHttpError } from "../../../model/http_error.ts";
import type { Body, HeaderList, HttpResponse } from "../../../model/http_message.ts";
import type { Share } from "../../../sharing/share.ts";
import type { Upload, UploadId } from "../../../sharing/store/upload_store.ts";
import type { Call } from "../../call.ts";
import { reprDigest, wantedAlgorithm } from "../../dav/digests.ts";
import type { SharingParts } from "../../share/sharing_parts.ts";
import { emptyResponse } from "../../text_response.ts";
import type { UseFacts, UseOfShare } from "../use_of_share.ts";
import { fileToWrite } from "../validators.ts";
import { deletePart, wasRenamed } from "./delete_part.ts";
import { firstFree, nthName } from "./dropped_name.ts";
import type { HeldUpload } from "./unfinished_uploads.ts";
import type { UploadRange } from "./upload_range.ts";

/** Directory in which files are uploaded: that of a share, or the root for an account's own files. */
export interface UploadPlace extends Pick<Share, "server" | "id" | "uid" | "gid" | "path" | "quota"> {
  readonly client?: string; // digest; absent if no other client uploads there
  readonly reaches: (path: string) => boolean;
  readonly open: (signal: AbortSignal) => Promise<DaemonSession>;
  readonly signal: AbortSignal; // of the request
  readonly audit: (path: string) => void; // records the attempted path
  readonly use: (path: string, begins: Pick<UseFacts, "also" | "options" | "ended">) => Promise<UseOfShare>;
}

/** File, or piece of one, in a request. */
interface UploadRequest {
  readonly name: string; // below the place
  readonly key?: string | undefined; // known to the client, which can resume
  readonly range: UploadRange;
  readonly body: Body;
  readonly checksum?: ChecksumAlgorithm | undefined; // of the digest that the client wants
  /** The first free name, or exactly its own if the request's conditions, and a check before the rename, permit it. */
  readonly naming: "free" | { readonly conditions: HeaderList; readonly check?: () => Promise<void> };
}

interface UploadedFile {
  readonly name: string;
  readonly size?: number | undefined; // bytes, if known
  readonly hex?: string | undefined; // digest by the wanted algorithm, if the daemon's reply to the upload has it
  readonly replaced?: boolean;
}

type UploadParts = Pick<SharingParts, "sessions" | "uploads" | "uses" | "clock">;

/**
 * Stores a file or part of one, and answers.
 * @returns 201 with `Upload-Name` (percent-encoded), 200 if it replaced a file, 202 with `Upload-Offset` while incomplete.
 * @throws As {@link storeFile}.
 */
export async function answerUpload(
  call: Call,
  place: UploadPlace,
  request: UploadRequest,
  parts: UploadParts,
): Promise<HttpResponse> {
  const algorithm = wantedAlgorithm(call.request.headers);
  const result = await storeFile(call, place, { ...request, checksum: algorithm }, parts);
  if (!("name" in result)) {
    return emptyResponse({ status: 202, headers: { "Upload-Offset": String(result.received) } });
  }
  const hex = algorithm && (result.hex ?? await checksumOf(call, place, result, algorithm));
  return emptyResponse({
    status: result.replaced ? 200 : 201,
    headers: {
      "Upload-Name": encodeURIComponent(result.name.toWellFormed()),
      ...algorithm && hex && { "Repr-Digest": reprDigest(algorithm, hex) },
    },
  });
}

/** Returns the digest of an uploaded file; undefined after an error, which does not fail the upload. */
async function checksumOf(
  call: Call,
  place: UploadPlace,
  { name, size }: UploadedFile,
  algorithm: ChecksumAlgorithm,
): Promise<string | undefined> {
  const path = `${place.path}${name}`;
  try {
    using session = await place.open(call.signal);
    return await session.checksum(path, algorithm, size ?? (await session.entry(path)).size);
  } catch (error) {
    call.log.warn("digest of an upload not computed", { path, error });
  }
}

/**
 * Writes a file or a piece as `.part`, and renames it when it is complete. Deletes an upload that failed and has no key to
 * resume it; `deleteDue()` deletes others. States of the row, and what the next request does, also after a crash:
 *
 * | Row                       | On the daemon           | Next request                                          |
 * | ------------------------- | ----------------------- | ----------------------------------------------------- |
 * | absent                    | nothing                 | begins                                                |
 * | without `target`          | `part`, or nothing yet  | continues at the size of `part`                       |
 * | with `target`             | whole `part`            | tries the rename again                                |
 * | with `target`             | no `part`, but `target` | records that it is complete                           |
 * | `finished`                | `target`                | answers with its name                                 |
 * | `files: 0`, name = `part` | temporary file          | (none) `withTemporaryPath()` deletes it               |
 * | `files: 0`, other name    | `part` was `target`     | (none) it moves back unless it is replaced            |
 *
 * @throws {ERR_INVALID_REQUEST | ERR_UPLOAD_OFFSET | ERR_QUOTA_USED | ERR_LENGTH_REQUIRED | ERR_TOO_MANY_UPLOADS |
 * ERR_PRECONDITION_FAILED | ERR_NOT_A_FILE} And as sessions.
 */
export async function storeFile(
  call: Call,
  place: UploadPlace,
  request: UploadRequest,
  parts: UploadParts,
): Promise<UploadedFile | { readonly received: number }> {
  const { server, id: share } = place;
  const { key } = request;
  const id = uploadId({ server, share, key: key ?? crypto.randomUUID() });
  const { unfinished } = parts.uploads;
  try {
    return await unfinished.runExclusive(id, key === undefined, (held) => store(held, place, request, parts));
  } catch (error) {
    const kept = key === undefined ? await discardUpload(call, place, id, parts) : undefined;
    if (kept !== undefined) return kept;
    throw error;
  }
}

/** Returns the recorded id. Readers of the directory see this digest; only the key itself can resume an upload. */
export function uploadId({ server, share, key }: UploadId): UploadId {
  const digest = createHash("sha256").update(`${server}/${share}/${key}`).digest("hex");
  return { server, share, key: digest.slice(0, 32) };
}

/** Deletes an upload that cannot be resumed; if that fails, it expires later. @returns The file, if it was already renamed. */
async function discardUpload(
  { log }: Call,
  place: UploadPlace,
  id: UploadId,
  parts: UploadParts,
): Promise<UploadedFile | undefined> {
  try {
    const upload = await parts.uploads.unfinished.store.acquire(id, crypto.randomUUID());
    if (upload === undefined || upload === "busy") return undefined;
    return await deletePart(upload, parts) ? { name: finalName(upload, place) } : undefined;
  } catch (error) {
    log.warn("unfinished upload not deleted", { server: place.server, uid: place.uid, error });
  }
}

/** Writes a file or a piece. The recorded upload decides what is permitted, not later requests. */
async function store(
  held: HeldUpload,
  place: UploadPlace,
  request: UploadRequest,
  parts: UploadParts,
): Promise<UploadedFile | { readonly received: number }> {
  const { range, naming } = request;
  const { unfinished } = parts.uploads;
  const former = held.upload;
  if (former && (former.uid !== place.uid || !former.part.startsWith(place.path))) {
    await deletePart(former, parts); // the share has another account or directory now, where it begins anew
    held.upload = undefined;
  }
  const known = held.upload;
  if (known?.finished) return { name: finalName(known, place), size: known.total };
  if (range.kind === "question" && known === undefined && naming === "free") return { received: 0 };
  const path = `${place.path}${known?.name ?? request.name}`;
  if (!place.reaches(path)) throw nothingThere("outside of what the account may reach");
  place.audit(path);
  const ended = new AbortController();
  const signal = AbortSignal.any([place.signal, held.signal, ended.signal]);
  let use: UseOfShare | undefined;
  let result: UploadedFile | { readonly received: number } = { received: 0 };
  let received = 0;
  try {
    using session = await place.open(signal);
    // Fails before the transfer instead of at the rename.
    const isNamed = known === undefined && naming !== "free";
    const replaced = isNamed && await fileToWrite(session, path, naming.conditions, parts.clock());
    if (known === undefined && range.kind === "question") return { received };
    const upload = known ?? await planned(session, held, place, request);
    // The commit of the final name, before the rename, puts this change on disk, too.
    const options = known === undefined ? unfinished.store.changeOptions(upload) : { asyncCommit: true };
    const begin = () => unfinished.store.beginning(upload, held.holder, place.client);
    const also = known === undefined ? begin : undefined;
    use = await place.use(path, { also, options, ended });
    held.upload = upload;
    if (replaced) await createWithMode(session, upload.part, replaced); // before it has content
    if (known !== undefined && await wasRenamed(session, known)) {
      await recordCompletion(held, request, { use, bytes: 0 }, parts);
      return result = { name: finalName(known, place) };
    }
    let hex: string | undefined;
    ({ received, hex } = await write(session, upload, { place, ...request }, known !== undefined));
    const isWhole = upload.total === undefined ? range.kind === "whole" : received === upload.total;
    if (!isWhole) return { received };
    const named = await renameToFinal(session, held, { place, request, use, signal, bytes: received }, parts);
    result = { ...named, size: received, hex };
    return result;
  } finally {
    if (!("name" in result)) await use?.release();
  }
}

/** Returns a new upload, which begins in an existing directory: only a complete file creates directories. */
async function planned(
  session: DaemonSession,
  held: HeldUpload,
  place: UploadPlace,
  { name, range }: UploadRequest,
): Promise<Upload> {
  const total = range.kind === "whole" ? range.length : range.total;
  const reserved = total ?? (range.kind === "whole" ? range.most : undefined);
  if (reserved === undefined && place.quota?.bytes !== undefined) throw httpError("ERR_LENGTH_REQUIRED");
  const { directory } = await deepestDirectory(session, place, name);
  const end = `.${held.id.key}.part`;
  // Daemons cannot set the mode of a file with blanks in its name.
  const shown = endOfName(nameOf(name), end.length).replaceAll(" ", "_");
  const [plain, alike] = [`${directory}${shown}${end}`, `${directory}part-${held.id.key}-${shown}`];
  const part = place.reaches(plain) ? plain : alike; // with the suffix that limits may require
  const { uid, gid } = place;
  return { ...held.id, uid, gid, part, name, total, files: 1, bytes: reserved ?? 0, finished: false };
}

/** Returns the deepest existing directory of a name and the number of missing ones below it. @throws {ERR_INVALID_REQUEST} */
async function deepestDirectory(
  session: DaemonSession,
  { path }: UploadPlace,
  name: string,
): Promise<{ readonly directory: string; readonly missing: number }> {
  let directory = parentOf(`${path}${name}`);
  for (let missing = 0;; missing++) {
    const entry = directory === path ? undefined : await find(session, directory);
    if (directory === path || entry?.kind === "directory") return { directory, missing };
    if (entry !== undefined) throw invalidRequest("A part of the path is a file, not a directory");
    directory = parentOf(directory);
  }
}

/** Reserves the quota that was unknown at the beginning and creates the directories; each uses quota for a file. */
async function reserveRemaining(
  session: DaemonSession,
  { id, holder, upload }: HeldUpload,
  { place, signal }: { readonly place: UploadPlace; readonly signal: AbortSignal },
  { uploads: { locks, unfinished: { store } } }: UploadParts,
): Promise<void> {
  if (upload === undefined) return;
  const endTurn = await locks.takeHere(place.server, `${place.uid}:${place.path}`, signal);
  try {
    const { missing } = await deepestDirectory(session, place, upload.name);
    const bytes = upload.total ?? await sizeOf(session, upload.part) ?? 0;
    // An earlier request may have created directories.
    const files = Math.max(upload.files, 1 + missing);
    if (files !== upload.files || bytes !== upload.bytes) await store.resize(id, holder, { files, bytes });
    if (missing > 0) await makeDirectories(session, parentOf(`${place.path}${upload.name}`));
  } finally {
    endTurn();
  }
}

/** Writes the body. @returns Offset after the write, and the wanted digest if the daemon's reply has it. */
async function write(
  session: DaemonSession,
  { part, total, bytes }: Upload,
  { place, range, body, checksum }: Pick<UploadRequest, "range" | "body" | "checksum"> & {
    readonly place: UploadPlace;
  },
  known: boolean,
): Promise<{ readonly received: number; readonly hex?: string | undefined }> {
  const size = known ? await sizeOf(session, part) ?? 0 : 0;
  const there = total !== undefined && size > total ? 0 : size;
  if (range.kind === "question") return { received: there };
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
    : total ?? (place.quota?.bytes === undefined ? Infinity : bytes + 2); // a form may end without line end
  let sent = 0;
  const hex = await session.upload(part, body, {
    ...{ first, length: range.length, most, checksum },
    renames: range.kind === "whole" || first + range.length === total,
    progress: (bytes) => sent = bytes,
  });
  return { received: first + sent, hex };
}

const MAX_TRIES = 50; // attempts to find a free name under contention

/** Records the final name before the rename, and completion after it, so that later requests know what was done. */
async function renameToFinal(
  session: DaemonSession,
  held: HeldUpload,
  { place, request, signal, ...done }: {
    readonly place: UploadPlace;
    readonly request: UploadRequest;
    readonly signal: AbortSignal;
    readonly use: UseOfShare;
    readonly bytes: number;
  },
  parts: UploadParts,
): Promise<UploadedFile> {
  const { uploads: { locks, unfinished: { store } } } = parts;
  const { naming } = request;
  const { id, holder, upload } = held;
  if (upload === undefined) throw new TypeError("no upload");
  const taken = new Set<number>();
  const pathOf = (n: number) => `${place.path}${nthName(upload.name, n)}`;
  const isTaken = async (n: number) => taken.has(n) || await sizeOf(session, pathOf(n)) !== undefined;
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const n = naming === "free" ? await firstFree(isTaken) : 1;
    if (n === undefined) throw httpError("ERR_QUOTA_USED", "too many files of one name");
    const endTurn = await locks.take(place.server, pathOf(n), signal, held.abort);
    let isRenaming = false;
    try {
      const isNamed = await store.setTarget(id, holder, pathOf(n), naming !== "free");
      if (!isNamed || (naming === "free" && await isTaken(n))) {
        taken.add(n);
        if (naming !== "free") await new Promise((resolve) => setTimeout(resolve, 100));
        continue;
      }
      if (naming !== "free") await naming.check?.();
      const existing = naming !== "free" &&
        await fileToWrite(session, pathOf(n), naming.conditions, parts.clock()) !== undefined;
      await reserveRemaining(session, held, { place, signal }, parts);
      signal.throwIfAborted();
      isRenaming = true;
      await session.rename(upload.part, pathOf(n));
      await recordCompletion(held, request, done, parts);
      return { name: nthName(upload.name, n), replaced: existing };
    } catch (error) {
      if (!isRenaming || isHttpError(error, "ERR_ACCESS_REFUSED")) {
        await store.setTarget(id, holder, undefined).catch(() => false);
      }
      throw error;
    } finally {
      endTurn();
    }
  }
  throw httpError("ERR_UPLOAD_INCOMPLETE", "other uploads took every name");
}

/** Records completion. If that fails, the next request infers it from the recorded name. */
async function recordCompletion(
  held: HeldUpload,
  { key }: UploadRequest,
  { use, bytes }: { readonly use: UseOfShare; readonly bytes: number },
  { uploads: { unfinished } }: UploadParts,
): Promise<void> {
  held.finished = true;
  await use.finish({ bytes, complete: true }, () => unfinished.store.finishing(held.id, key !== undefined));
}

function finalName({ target, name }: Upload, { path }: UploadPlace): string {
  return target === undefined ? name : target.slice(path.length);
}
