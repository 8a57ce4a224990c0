import type { HttpResponse } from "../../model/http_message.ts";
import { isDirectory } from "../../sharing/share.ts";
import type { DaemonSession } from "../../daemon/session/daemon_session.ts";
import { invalidRequest } from "../../model/http_error.ts";
import type { Call } from "../call.ts";
import type { SharingParts } from "../share/sharing_parts.ts";
import { emptyResponse } from "../text_response.ts";
import { dropUpload } from "./drop/drop_upload.ts";
import { contentLength } from "./drop/upload_range.ts";
import { openShareSession } from "./share_session.ts";
import { openedShare } from "./opened_share.ts";
import { useShare } from "./use_of_share.ts";
import { fileToWrite } from "./validators.ts";

/**
 * Serves `PUT /rest/access/<server>/<id>[/<path>]`: writes a file in place (rest-api.md 1.13, 2.10), after all checks that
 * need no body. An interrupted upload fails and leaves a partial file; with a key, see {@link dropUpload}.
 * @returns 201 for a new file, else 200.
 */
export async function upload(call: Call, parts: SharingParts): Promise<HttpResponse> {
  const opened = await openedShare(call, ({ access }) => access === "DROP" ? "DROP" : "WRITE", parts);
  const { server, share, path } = opened;
  if (share.access === "DROP" || (isDirectory(share) && call.query.has("upload"))) {
    return await dropUpload(call, opened, parts);
  }
  const { headers } = call.request;
  if (headers.has("Content-Range")) throw invalidRequest("Partial uploads are not possible");
  if (path.endsWith("/")) {
    throw invalidRequest("Name the file to be written, behind the address of the share");
  }
  const length = contentLength(headers);
  const use = await useShare(call, share, { kind: "HTTP-upload", path }, parts);
  let session: DaemonSession | undefined;
  let endTurn: (() => void) | undefined;
  let [asked, begun] = [false, false];
  let bytes = 0;
  try {
    const { signal, lock } = parts.uploads.locks.prepare(server.name, path, use.signal);
    session = await openShareSession(call, opened, { path, permission: "WRITE" }, signal);
    endTurn = await lock(signal);
    const existing = await fileToWrite(session, path, headers, parts.clock());
    asked = true;
    await session.upload(path, call.request.body, {
      length,
      progress: (total) => {
        endTurn?.();
        begun = true;
        bytes = total;
      },
    });
    await use.finish({ bytes, complete: true, arrived: true });
    return emptyResponse({ status: existing === undefined ? 201 : 200 });
  } catch (error) {
    // The daemon may already have emptied the file when the client leaves before the reply.
    await (begun || (asked && use.signal.aborted) ? use.finish({ bytes, complete: false }) : use.release());
    throw error;
  } finally {
    endTurn?.();
    session?.close();
  }
}
