import { type ErrorCode, ServiceError } from "../model/service_error.ts";

/** Seconds after which it makes sense to try again. */
const RETRY_AFTER_SECONDS = 5;

/** A method that might have accepted the caller is out of order, and no other accepted. */
export class AuthenticationUnavailable extends ServiceError {
  readonly code: ErrorCode = "ERR_AUTHENTICATION_UNAVAILABLE";
  readonly status = 503;
  readonly publicMessage = "Your credentials cannot be checked at the moment, please try again later";
  override readonly headers = { "Retry-After": String(RETRY_AFTER_SECONDS) };

  /** @param methods Names of the methods that are out of order. */
  constructor(methods: readonly string[], cause: unknown) {
    super(`Out of order: ${methods.join(", ")}`, { cause });
  }
}
