import type { Caller } from "../../model/identity.ts";
import { ServiceError } from "../../model/service_error.ts";

/** No share of that id, or not any more; callers do not learn which. */
export class ShareNotFound extends ServiceError {
  readonly code = "ERR_SHARE_NOT_FOUND";
  readonly status = 404;
  readonly publicMessage = "There is no such share, or it has ended";
}

/** A known caller who may not do this. */
export class NotPermitted extends ServiceError {
  readonly code = "ERR_NOT_PERMITTED";
  readonly status = 403;

  constructor(readonly publicMessage: string) {
    super(publicMessage);
  }
}

/** The refusal that fits the caller: somebody unknown is asked for credentials, somebody known is turned away. */
export function refusal(
  caller: Caller,
  message: string,
  { unauthenticated }: { readonly unauthenticated: (reason: string) => ServiceError },
): ServiceError {
  return caller.kind === "anonymous" ? unauthenticated(message) : new NotPermitted(message);
}
