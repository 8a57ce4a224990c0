import { Buffer } from "node:buffer";
import { randomBytes } from "node:crypto";
import type { DaemonSession } from "../../../daemon/session/daemon_session.ts";
import { HeaderList } from "../../../model/header_list.ts";
import type { Body, HttpResponse } from "../../../model/http_message.ts";
import { isHttpError, httpError } from "../../../model/http_error.ts";
import { mediatedScope } from "../../../sharing/rules/session_scope.ts";
import { nothingThere } from "../../../daemon/session/session_errors.ts";
import { withinAll } from "../../../sharing/rules/owner_limits.ts";
import { isDirectory, type Share } from "../../../sharing/share.ts";
import type { Call } from "../../call.ts";
import { checkShownToken, FORM_TOKEN } from "../../form.ts";
import { withoutSlash } from "../../../model/absolute_path.ts";
import { invalidRequest } from "../../invalid_request.ts";
import { notPermitted } from "../../share/sharing_errors.ts";
import type { SharingParts } from "../../share/sharing_parts.ts";
import { emptyResponse } from "../../text_response.ts";
import { existingFile } from "../existing_file.ts";
import { type OpenedShare, openedShare } from "../opened_share.ts";
import { useShare } from "../use_of_share.ts";
import { allowsWriting, validatorsOf } from "../validators.ts";
import { deletePart } from "./delete_part.ts";
import { droppedName, firstFree, nthName } from "./dropped_name.ts";
import { formFiles } from "./form_files.ts";
import type { Upload } from "./unfinished_uploads.ts";
import { parseUploadRange, type UploadRange } from "./upload_range.ts";

/** A file that was brought, under the name that it got. */
interface DroppedFile {
  readonly name: string;
  /** Whether it took the place of another one. */
  readonly replaced?: boolean;
}

/**
 * Under which name a file is kept once it is whole: the first that nothing has, or exactly its own, in place of what has it
 * as far as the conditions of the request allow that.
 */
type Place = "free" | { readonly conditions: HeaderList };

/**
 * `PUT /rest/access/<server>/<id>/<name>` for a share with access `DROP`, and with `upload` in the query for one that may be
 * written; the name can have directories, which are made. The file is brought under a name of its own that
 * ends in `.part`, and gets its name once it is whole: with `DROP` one that is not taken. With `upload`, a key of the
 * client's choice, it can come in pieces (`Content-Range`), and what was interrupted goes on where the daemon has it.
 * @returns 201 with the name (`Upload-Name`, percent-encoded) once it is whole, 200 if it replaced another one; 202 with how
 *   many bytes are there before (`Upload-Offset`).
 * @throws {ERR_INVALID_REQUEST | ERR_UPLOAD_OFFSET | ERR_QUOTA_USED | ERR_LENGTH_REQUIRED | ERR_TOO_MANY_UPLOADS |
 *   ERR_PRECONDITION_FAILED}
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
  const brought = { name, key: key ?? randomKey(), range, body: call.request.body, place };
  try {
    const result = await bring(call, opened, brought, parts);
    return "name" in result
      ? emptyResponse({
        status: result.replaced ? 200 : 201,
        headers: { "Upload-Name": encodeURIComponent(result.name.toWellFormed()) },
      })
      : emptyResponse({ status: 202, headers: { "Upload-Offset": String(result.received) } });
  } catch (error) {
    if (key === undefined) await giveUp(call, share, brought.key, parts);
    throw error;
  }
}

/**
 * Takes the files of a form for a share with access `DROP`, or a directory of one that may be written, one after the other.
 * What fails ends it; those before are kept. None replaces another, unless the query has `replace` and the access is `MODIFY`.
 * Of a browser that is signed in, the form has the token of its pages before the first file.
 * @returns Names that they got.
 * @throws As {@link dropUpload}, {ERR_NOT_PERMITTED} for another share, and {ERR_PAGE_OUTDATED}.
 */
export async function dropForm(call: Call, parts: SharingParts): Promise<readonly string[]> {
  const opened = await openedShare(call, ({ access }) => access === "DROP" ? "DROP" : "WRITE", parts);
  const { headers, body } = call.request;
  const { share, limits } = opened;
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
      checkShownToken(file.fields.get(FORM_TOKEN) ?? null, call.signIn.formToken);
    }
    const name = droppedName(`${below}${file.name}`);
    if (!withinAll(limits, `${share.path}${name}`)) throw nothingThere("outside of what the owner may reach");
    const brought = { name, key: randomKey(), range, body: file.body, place };
    try {
      const result = await bring(call, opened, brought, parts);
      if ("name" in result) names.push(result.name);
    } catch (error) {
      await giveUp(call, share, brought.key, parts);
      throw error;
    }
  }
  return names;
}

/** Deletes what cannot go on, since nobody knows its key; if that fails, it is deleted when its time is over. */
async function giveUp({ log }: Call, share: Share, key: string, parts: SharingParts): Promise<void> {
  try {
    const upload = await parts.uploads.unfinished.find(share, key);
    if (upload !== undefined) await deletePart(upload, parts);
  } catch (error) {
    log.warn("unfinished upload not deleted", { server: share.server, uid: share.uid, error });
  }
}

/** Brings a file or a piece of it. */
async function bring(
  call: Call,
  { server, share }: OpenedShare,
  { name, key, range, body, place }: {
    readonly name: string;
    readonly key: string;
    readonly range: UploadRange;
    readonly body: Body;
    readonly place: Place;
  },
  parts: SharingParts,
): Promise<DroppedFile | { readonly received: number }> {
  const { unfinished } = parts.uploads;
  return await unfinished.alone(share, key, async (stopped) => {
    const known = await unfinished.find(share, key);
    if (known?.kept !== undefined) return { name: known.kept };
    const isNew = known === undefined;
    if (range.kind === "question" && isNew && place === "free") return { received: 0 };
    const use = await useShare(call, share, { kind: "HTTP-upload", path: `${share.path}${name}` }, parts);
    const signal = AbortSignal.any([use.signal, stopped]);
    let received = 0;
    let kept: DroppedFile | undefined;
    try {
      using session = await server.sessions.open({
        user: share.uid,
        group: share.gid,
        scope: mediatedScope(share.path),
        permission: "WRITE",
        instance: server.instance,
      }, signal);
      // What would not get its name in the end need not come.
      if (isNew && place !== "free") await replaced(session, `${share.path}${name}`, place, parts);
      if (isNew && range.kind === "question") return { received: 0 };
      const upload = known ?? await begin(share, { name, key, range }, parts);
      if (isNew) await makeDirectories(session, share, { name, signal }, parts);
      received = await write(session, upload, { range, body }, !isNew);
      if (range.kind !== "whole" && received !== upload.total) return { received };
      kept = await giveName(session, upload, { share, place, signal }, parts);
      return kept;
    } finally {
      await (kept === undefined ? use.giveBack() : use.finish({ bytes: received, complete: true }));
    }
  });
}

/** Takes room for a file, and remembers it. */
async function begin(
  share: Share,
  { name, key, range }: { readonly name: string; readonly key: string; readonly range: UploadRange },
  { store, uploads: { unfinished } }: SharingParts,
): Promise<Upload> {
  const total = range.kind === "whole" ? range.length : range.total;
  const reserved = total ?? (range.kind === "whole" ? range.most : undefined);
  if (reserved === undefined && share.quota?.bytes !== undefined) throw httpError("ERR_LENGTH_REQUIRED");
  const worker = { files: 1, bytes: reserved ?? 0 };
  if (!await store.reserve(share.server, share.id, worker)) throw httpError("ERR_QUOTA_USED");
  try {
    const part = `${share.path}${name}.${key}.part`;
    return await unfinished.begin(share, { key, name, total, reserved, part });
  } catch (error) {
    await store.release(share.server, share.id, worker);
    throw error;
  }
}

/** Makes the directories that a file comes in, as far as they are not there. Each takes room as a file does. */
async function makeDirectories(
  session: DaemonSession,
  share: Share,
  { name, signal }: { readonly name: string; readonly signal: AbortSignal },
  { uploads, store }: SharingParts,
): Promise<void> {
  const directories = name.split("/").slice(0, -1);
  if (directories.length === 0) return;
  const endTurn = await uploads.semaphore.take(share.server, share.path, signal);
  try {
    let path = share.path;
    for (const directory of directories) {
      path += `${directory}/`;
      const kind = await kindOf(session, path);
      if (kind === "directory") continue;
      if (kind !== undefined) throw invalidRequest("There is a file where a directory is to be");
      const worker = { files: 1, bytes: 0 };
      if (!await store.reserve(share.server, share.id, worker)) throw httpError("ERR_QUOTA_USED");
      try {
        await session.makeDirectory(path);
      } catch (error) {
        await store.release(share.server, share.id, worker);
        throw error;
      }
    }
  } finally {
    endTurn();
  }
}

/** What is at the path of a directory; undefined if nothing is. */
async function kindOf(session: DaemonSession, path: string) {
  try {
    return (await session.entry(withoutSlash(path))).kind;
  } catch (error) {
    if (isHttpError(error, "ERR_NOT_FOUND")) return undefined;
    throw error;
  }
}

/** Writes what a request brings behind what is there. @returns Bytes that are there then. */
async function write(
  session: DaemonSession,
  { part, total }: Upload,
  { range, body }: { readonly range: UploadRange; readonly body: Body },
  known: boolean,
): Promise<number> {
  const there = known ? await sizeOf(session, part) : 0;
  if (range.kind === "question") return there;
  if (range.kind === "piece" && (range.first !== there || range.total !== total)) {
    throw httpError("ERR_UPLOAD_OFFSET", { offset: String(there) });
  }
  const first = range.kind === "piece" ? range.first : 0;
  let sent = 0;
  await session.upload(part, body, {
    first,
    length: range.length,
    progress: (bytes) => {
      sent = bytes;
    },
  });
  return first + sent;
}

/** Gives a file that is whole its name. One at a time in a directory, so that none replaces another unseen. */
async function giveName(
  session: DaemonSession,
  upload: Upload,
  { share, place, signal }: { readonly share: Share; readonly place: Place; readonly signal: AbortSignal },
  parts: SharingParts,
): Promise<DroppedFile> {
  const { uploads, store } = parts;
  const { total, reserved, part, name } = upload;
  const endTurn = await uploads.semaphore.take(share.server, share.path, signal);
  try {
    const isTaken = async (n: number) => await sizeOf(session, `${share.path}${nthName(name, n)}`, -1) >= 0;
    const existing = place !== "free" && await replaced(session, `${share.path}${name}`, place, parts);
    const n = place === "free" ? await firstFree(isTaken) : 1;
    if (n === undefined) throw httpError("ERR_QUOTA_USED", "too many files of one name");
    if (total === undefined) {
      const size = await sizeOf(session, part);
      if (reserved === undefined) await store.reserve(share.server, share.id, { files: 0, bytes: size });
      else await store.release(share.server, share.id, { files: 0, bytes: reserved - size });
    }
    const kept = nthName(name, n);
    await session.rename(part, `${share.path}${kept}`);
    await uploads.unfinished.finish(upload, kept);
    return { name: kept, replaced: existing };
  } finally {
    endTurn();
  }
}

/**
 * Whether a file is there that would be replaced.
 * @throws {ERR_PRECONDITION_FAILED | ERR_NOT_A_FILE} If the conditions do not allow that, or it is no file.
 */
async function replaced(
  session: DaemonSession,
  path: string,
  { conditions }: Exclude<Place, "free">,
  { clock }: SharingParts,
): Promise<boolean> {
  const existing = await existingFile(session, path);
  if (allowsWriting(conditions, existing && validatorsOf(existing, clock()))) return existing !== undefined;
  throw httpError("ERR_PRECONDITION_FAILED");
}

/** Bytes of what is at a path, whatever that is. @param none If nothing is. */
async function sizeOf(session: DaemonSession, path: string, none = 0): Promise<number> {
  try {
    return (await session.entry(path)).size;
  } catch (error) {
    if (isHttpError(error, "ERR_NOT_FOUND")) return none;
    throw error;
  }
}

/** @throws {ERR_INVALID_REQUEST} */
function uploadKey({ query }: Call): string | undefined {
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
