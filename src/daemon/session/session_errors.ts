import { HttpError, httpError } from "../../model/http_error.ts";

/** The daemon ended the session, or the connection broke, where something else was due. */
export class SessionEnded extends HttpError {
  constructor(reason: string, cause?: unknown) {
    super("ERR_DAEMON_SESSION", { reason }, cause);
  }
}

/** A path inside a share that does not exist, or cannot: callers do not learn which. */
export function nothingThere(reason: string, cause?: unknown): HttpError {
  return httpError("ERR_NOT_FOUND", { where: "of this name here", reason }, cause);
}
