import { ServiceError } from "../model/service_error.ts";

/**
 * An attribute source is out of order. What it knows may forbid what another source allows (a ban, a lower limit), so
 * the request fails rather than going on without it (authentication.md 10.8).
 */
export class AttributeSourceFailed extends ServiceError {
  readonly code = "ERR_ATTRIBUTE_SOURCE";
  readonly status = 503;
  readonly publicMessage = "The rights of users cannot be looked up at the moment, please try again later";
  override readonly headers = { "Retry-After": "10" };

  /** @param source Configured name, such as `XUUDB`. */
  constructor(readonly source: string, reason: string, cause?: unknown) {
    super(`Attribute source ${source}: ${reason}`, { cause });
  }
}
