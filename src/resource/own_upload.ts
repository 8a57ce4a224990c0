import type { Files } from "../files/files.ts";
import { httpError, invalidRequest } from "../model/http_error.ts";
import type { HttpResponse } from "../model/http_message.ts";
import { ofAccount } from "../sharing/store/upload_store.ts";
import { uploadKey } from "./access/drop/drop_upload.ts";
import { answerUpload, type UploadPlace } from "./access/drop/recorded_upload.ts";
import { parseUploadRange } from "./access/drop/upload_range.ts";
import type { Call } from "./call.ts";
import type { DavParts } from "./dav/dav_call.ts";
import type { LockUser } from "./dav/dav_locks.ts";

/**
 * Writes a file of the caller's, whole or in pieces, as an upload to a share (`dropUpload()`).
 * @throws {ERR_INVALID_REQUEST | ERR_LOCKED} And as `storeFile()`.
 */
export async function uploadOwn(
  call: Call,
  { files, path, user }: { readonly files: Files; readonly path: string; readonly user: LockUser },
  parts: DavParts,
): Promise<HttpResponse> {
  const { headers, body } = call.request;
  const key = uploadKey(call);
  if (key === undefined) throw invalidRequest("upload: expected a key in the query");
  const range = parseUploadRange(headers);
  if (range.kind === "whole" && range.length !== 0) {
    throw invalidRequest("Content-Range: expected with a file");
  }
  const check = async () => {
    if ((await parts.locks.at(user, path)).length > 0) throw httpError("ERR_LOCKED");
  };
  await check();
  const { user: uid, group: gid } = files.confine(path);
  const { store } = parts.uploads.unfinished;
  const place: UploadPlace = {
    ...{ server: user.server, id: ofAccount(uid), uid, gid, path: "/", signal: call.signal },
    reaches: (path) => files.reaches(path),
    open: (signal) => files.open(path, signal),
    audit: () => {},
    use: async (_, { also, options }) => {
      if (also) await store.change(also, options);
      return {
        signal: call.signal,
        release: async () => {},
        finish: async ({ bytes }, also) => {
          parts.transferred?.("upload", bytes);
          if (also) await parts.uses.attempt(() => store.change(also, { asyncCommit: true }));
        },
      };
    },
  };
  // The path is part of the key: locks and limits were checked for this path only.
  const request = {
    name: path.slice(1),
    key: `${path}\0${key}`,
    range,
    body,
    naming: { conditions: headers, check },
  };
  return await answerUpload(call, place, request, parts);
}
