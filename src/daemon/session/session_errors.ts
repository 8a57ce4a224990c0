import { HttpError, httpError } from "../../model/http_error.ts";

/** Error for a session that the daemon ended unexpectedly. */
export class SessionEnded extends HttpError {
  constructor(reason: string, cause?: unknown) {
    super("ERR_DAEMON_SESSION", { reason }, cause);
  }
}

/** Returns the error for any inaccessible path in a share; callers do not learn the reason. */
export function nothingThere(reason: string, cause?: unknown): HttpError {
  return httpError("ERR_NOT_FOUND", { what: "The file or directory", reason }, cause);
}
