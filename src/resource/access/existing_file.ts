import type { DaemonSession } from "../../daemon/session/daemon_session.ts";
import { httpError, isHttpError } from "../../model/http_error.ts";

/** Returns the file to be replaced, if it exists. @throws {ERR_NOT_A_FILE} A pipe or device could block the daemon for ever. */
export async function existingFile(session: DaemonSession, path: string) {
  try {
    const entry = await session.datedEntry(path);
    if (entry.kind !== "file") throw httpError("ERR_NOT_A_FILE");
    return entry;
  } catch (error) {
    if (isHttpError(error, "ERR_NOT_FOUND")) return undefined;
    throw error;
  }
}
