import { refuse, type ServiceError } from "../model/service_error.ts";

/** Not before some time. @param scope Whose failures they were, for the log. */
export function tooManyFailures(waitMs: number, scope: string): ServiceError {
  const seconds = Math.max(1, Math.ceil(waitMs / 1000));
  return refuse("ERR_TOO_MANY_FAILURES", {
    seconds,
    reason: `Too many failed attempts (${scope}), ${waitMs} ms to wait`,
  });
}
