import { type HttpError, httpError } from "../model/http_error.ts";

/** Not before some time. @param scope Whose failures they were, for the log. */
export function tooManyFailures(waitMs: number, scope: string): HttpError {
  const seconds = Math.max(1, Math.ceil(waitMs / 1000));
  return httpError("ERR_TOO_MANY_FAILURES", {
    seconds,
    reason: `Too many failed attempts (${scope}), ${waitMs} ms to wait`,
  });
}
