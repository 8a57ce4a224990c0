import type { HeaderReader } from "../../model/header_list.ts";
import { ServiceError } from "../../model/service_error.ts";
import { NothingThere } from "../../sharing/nothing_there.ts";
import { mediatedScope } from "../../sharing/rules/session_scope.ts";
import type { DaemonSession } from "../../sharing/session_client/daemon_session.ts";
import type { Call } from "../call.ts";
import { InvalidRequest } from "../request_errors.ts";
import type { SharingParts } from "../share/sharing_parts.ts";
import { openedShare } from "./opened_share.ts";
import { useShare } from "./use_of_share.ts";

/** What is there is no regular file, so it cannot be replaced by one. */
export class NotAFile extends ServiceError {
  readonly code = "ERR_NOT_A_FILE";
  readonly status = 409;
  readonly publicMessage = "There is something else than a file of this name";
}

/**
 * `PUT /rest/access/<server>/<id>[/<path>]`: writes a file of a share that allows it (rest-api.md 1.13, 2.10). An upload
 * that ends early leaves a part behind, as the daemon writes in place, and is an error.
 */
export async function upload(call: Call, parts: SharingParts): Promise<Response> {
  const { server, share, path } = await openedShare(call, "WRITE", parts);
  const { headers, body } = call.request;
  if (headers.has("Content-Range")) throw new InvalidRequest("Partial uploads are not possible");
  if (path.endsWith("/")) {
    throw new InvalidRequest("Name the file to be written, behind the address of the share");
  }
  const use = await useShare(call, share, { kind: "HTTP-upload", path }, parts);
  let session: DaemonSession | undefined;
  let begun = false;
  let bytes = 0;
  try {
    session = await server.sessions.open({
      user: share.uid,
      ...(share.gid !== undefined && { group: share.gid }),
      scope: mediatedScope(path),
      permission: "WRITE",
      ...(server.instance !== undefined && { instance: server.instance }),
    }, call.signal);
    await refuseNonFile(session, path);
    await session.upload(path, body, {
      ...contentLength(headers),
      progress: (total) => {
        begun = true;
        bytes = total;
      },
    });
    await use.finish({ bytes, complete: true });
    return new Response(null, { status: 200, headers: { "Content-Length": "0" } });
  } catch (error) {
    await (begun ? use.finish({ bytes, complete: false }) : use.giveBack());
    throw error;
  } finally {
    session?.close();
  }
}

/** Writing to a pipe or device could block the daemon for good. */
async function refuseNonFile(session: DaemonSession, path: string): Promise<void> {
  try {
    if ((await session.entry(path)).kind !== "file") throw new NotAFile();
  } catch (error) {
    if (!(error instanceof NothingThere)) throw error;
  }
}

function contentLength(headers: HeaderReader): { readonly length?: number } {
  const text = headers.get("Content-Length") ?? "";
  return /^\d{1,15}$/.test(text) ? { length: Number(text) } : {};
}
