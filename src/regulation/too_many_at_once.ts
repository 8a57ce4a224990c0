import { type ErrorCode, ServiceError } from "../model/service_error.ts";

/** So many others are being checked that no turn came within some seconds. The caller's credentials were not looked at. */
export class TooManyAtOnce extends ServiceError {
  readonly code: ErrorCode = "ERR_TOO_MANY_AT_ONCE";
  readonly status = 429;
  readonly publicMessage = "Too many logins at once, please try again later";
  override readonly headers = { "Retry-After": "1" };

  constructor() {
    super("too many logins of the user or from the address at once");
  }
}
