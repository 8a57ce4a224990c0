import { type ErrorCode, ServiceError } from "../model/service_error.ts";

/**
 * Not before some time. The caller's credentials were not looked at, and whether the user exists makes no difference.
 */
export class TooManyFailures extends ServiceError {
  readonly code: ErrorCode = "ERR_TOO_MANY_FAILURES";
  readonly status = 429;
  readonly publicMessage = "Too many failed attempts, please try again later";
  override readonly headers: Readonly<Record<string, string>>;

  /** @param scope Whose failures they were, for the log. */
  constructor(readonly waitMs: number, readonly scope: string) {
    super(`Too many failed attempts (${scope}), ${waitMs} ms to wait`);
    this.headers = { "Retry-After": String(Math.max(1, Math.ceil(waitMs / 1000))) };
  }
}
