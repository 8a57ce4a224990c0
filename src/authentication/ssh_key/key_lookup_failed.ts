import { ServiceError } from "../../model/service_error.ts";

/** A user's key is neither confirmed nor refuted, since not all servers could be asked. */
export class KeyLookupFailed extends ServiceError {
  readonly code = "ERR_KEY_LOOKUP_FAILED";
  readonly status = 503;
  readonly publicMessage = "Signing in is not possible at the moment, please try again later";
  override readonly headers = { "Retry-After": "5" };

  constructor(readonly servers: readonly string[]) {
    super(`Users' keys cannot be read from ${servers.join(", ")}`);
  }
}
