import type { Logger } from "../../../logging/logger.ts";
import { isHttpError } from "../../../model/http_error.ts";
import { mediatedScope } from "../../../sharing/rules/session_scope.ts";
import type { SharingParts } from "../../share/sharing_parts.ts";
import type { Upload } from "./unfinished_uploads.ts";

/** What unfinished uploads are deleted with. */
type DeletingParts = Pick<SharingParts, "sessions" | "store" | "uploads">;

/** Time that a daemon has for one, in milliseconds. */
const MAX_WAIT_MS = 30_000;

/**
 * Deletes what came of a file that does not come whole, and gives back the room that was taken for it. Of one that came
 * whole nothing is left but that it did.
 * @throws What sessions throw; it is then tried again another time.
 */
export async function deletePart(upload: Upload, { sessions, store, uploads }: DeletingParts): Promise<void> {
  const { server, share, uid, gid, part, total = 0, reserved = total, kept } = upload;
  const client = sessions.get(server);
  if (kept === undefined && client !== undefined) {
    using session = await client.open({
      user: uid,
      group: gid,
      scope: mediatedScope(part),
      permission: "FULL",
    }, AbortSignal.timeout(MAX_WAIT_MS));
    try {
      await session.entry(part);
      await session.remove(part);
    } catch (error) {
      if (!isHttpError(error, "ERR_NOT_FOUND")) throw error;
    }
  }
  if (await uploads.unfinished.forget(upload) && kept === undefined) {
    await store.release(server, share, { files: 1, bytes: reserved });
  }
}

/** Deletes all whose time is over. */
export async function deleteDue(parts: DeletingParts, log: Logger): Promise<void> {
  for (const upload of await parts.uploads.unfinished.due()) {
    try {
      await deletePart(upload, parts);
    } catch (error) {
      log.warn("unfinished upload not deleted", { server: upload.server, uid: upload.uid, error });
    }
  }
}
