import { ServiceError } from "../../model/service_error.ts";

/** The store cannot be read or written, say because the disk is full. Nothing was changed. */
export class ShareStoreFailed extends ServiceError {
  readonly code = "ERR_SHARE_STORE";
  readonly status = 503;
  readonly publicMessage = "Shares are not available at the moment, please try again later";
  override readonly headers = { "Retry-After": "30" };
}
