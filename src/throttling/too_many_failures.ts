import { type HttpError, httpError } from "../model/http_error.ts";

/** Returns the 429 error with the wait. @param scope Subject for the log. */
export function tooManyFailures(waitMs: number, scope: string): HttpError {
  const seconds = Math.max(1, Math.ceil(waitMs / 1000));
  return httpError("ERR_TOO_MANY_FAILURES", {
    seconds,
    reason: `Too many failed attempts (${scope}), ${waitMs} ms to wait`,
  });
}
