import { createHash } from "node:crypto";
import type { DaemonSession } from "../daemon/session/daemon_session.ts";
import { nothingThere } from "../daemon/session/session_errors.ts";
import { type Files, makeDirectories, sizeOf } from "../files/files.ts";
import { nameOf, parentOf } from "../model/absolute_path.ts";
import { BoundedMap } from "../model/bounded_map.ts";
import { httpError, invalidRequest } from "../model/http_error.ts";
import type { HttpResponse } from "../model/http_message.ts";
import { uploadKey } from "./access/drop/drop_upload.ts";
import { parseUploadRange } from "./access/drop/upload_range.ts";
import { fileToWrite } from "./access/validators.ts";
import type { Call } from "./call.ts";
import type { DavParts } from "./dav/dav_call.ts";
import { wantedDigest } from "./dav/digests.ts";
import { emptyResponse } from "./text_response.ts";

/** Requests by the part that they write: the next one for it ends them, since their connection may be lost. */
const RUNNING = new Map<string, AbortController>();

/** Parts that became files, for requests whose answer was lost. */
const FINISHED = new BoundedMap<string, number>(1000);

/**
 * Writes a file of the caller's, whole or in pieces, as an upload to a share (`dropUpload()`). The part stands beside the
 * file under a name that only the key gives; its size tells how much has arrived. Missing directories are created.
 * @returns 201, or 200 if it replaced a file, with the digest if wanted; 202 with `Upload-Offset` while incomplete.
 * @throws {ERR_INVALID_REQUEST | ERR_UPLOAD_OFFSET | ERR_PRECONDITION_FAILED | ERR_NOT_A_FILE} And as sessions.
 */
export async function uploadOwn(
  call: Call,
  { files, path, server }: { readonly files: Files; readonly path: string; readonly server: string },
  parts: Pick<DavParts, "paths" | "clock" | "transferred">,
): Promise<HttpResponse> {
  const { headers, body } = call.request;
  const key = uploadKey(call);
  if (key === undefined) throw invalidRequest("upload: expected a key in the query");
  const range = parseUploadRange(headers);
  if (range.kind === "whole" && range.length !== 0) {
    throw invalidRequest("Content-Range: expected with a file");
  }
  const part = partOf(path, key);
  const place = `${server}:${part}`;
  const stop = new AbortController();
  RUNNING.get(place)?.abort(httpError("ERR_UPLOAD_INCOMPLETE", "the rest of it comes by another request"));
  RUNNING.set(place, stop);
  const signal = AbortSignal.any([call.signal, stop.signal]);
  const lost = (reason: Error) => stop.abort(reason);
  let release = () => {};
  try {
    release = await parts.paths.take(server, part, signal, lost);
    using session = await files.open(path, signal);
    const check = () => fileToWrite(session, path, headers, parts.clock());
    const finished = FINISHED.get(place);
    if (finished !== undefined) return await answer(call, session, path, finished);
    await check();
    const there = await sizeOf(session, part) ?? 0;
    const total = range.kind === "whole" ? 0 : range.total;
    if (range.kind === "piece" && range.first !== there) {
      throw httpError("ERR_UPLOAD_OFFSET", { offset: String(there) });
    }
    let received = there;
    if (range.kind !== "question") {
      await makeParents(files, session, path);
      const length = range.length ?? 0;
      const progress = (bytes: number) => received = there + bytes;
      try {
        await session.upload(part, body, { first: there, length, most: length, progress });
      } finally {
        parts.transferred?.("upload", received - there);
      }
    }
    if (received !== total || (range.kind === "question" && total === 0)) {
      return emptyResponse({ status: 202, headers: { "Upload-Offset": String(received) } });
    }
    const end = await parts.paths.take(server, path, signal, lost);
    try {
      const status = await check() === undefined ? 201 : 200;
      await session.rename(part, path);
      FINISHED.set(place, status);
      return await answer(call, session, path, status);
    } finally {
      end();
    }
  } finally {
    release();
    if (RUNNING.get(place) === stop) RUNNING.delete(place);
  }
}

async function answer(
  call: Call,
  session: DaemonSession,
  path: string,
  status: number,
): Promise<HttpResponse> {
  const { size } = await session.entry(path);
  const digest = await wantedDigest(session, path, size, call.request.headers);
  const name = { "Upload-Name": encodeURIComponent(nameOf(path).toWellFormed()) };
  return emptyResponse({ status, headers: digest === undefined ? name : { ...name, "Repr-Digest": digest } });
}

/** Bytes of a name. */
const LONGEST_NAME = 255;

function partOf(path: string, key: string): string {
  const digest = createHash("sha256").update(`${path}\0${key}`).digest("hex").slice(0, 32);
  const end = `.${digest}.part`;
  let name = nameOf(path);
  while (new TextEncoder().encode(name + end).length > LONGEST_NAME) name = [...name].slice(0, -1).join("");
  return `${parentOf(path)}${name}${end}`;
}

/** Creates the missing directories of a file. @throws {ERR_NOT_FOUND | ERR_NO_DIRECTORY} If a file is in the way. */
export async function makeParents(files: Files, session: DaemonSession, path: string): Promise<void> {
  if (!files.reaches(path)) throw nothingThere("outside of what the caller may reach");
  await makeDirectories(session, parentOf(path));
}
