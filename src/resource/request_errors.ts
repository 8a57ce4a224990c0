import { ServiceError } from "../model/service_error.ts";

/** A request that says something it may not say; the public message names the field and what was expected. */
export class InvalidRequest extends ServiceError {
  readonly code = "ERR_INVALID_REQUEST";
  readonly status = 400;

  /** @param publicMessage Names the field, never its value. */
  constructor(readonly publicMessage: string) {
    super(publicMessage);
  }
}

/** No logical server of that name, or no instance of that number. */
export class UnknownServer extends ServiceError {
  readonly code = "ERR_UNKNOWN_SERVER";
  readonly status = 404;
  readonly publicMessage = "There is no such server";
}

/** None of the daemons of a logical server can take a session now. */
export class ServerDown extends ServiceError {
  readonly code = "ERR_SERVER_DOWN";
  readonly status = 503;
  override readonly headers = { "Retry-After": "10" };

  /** @param publicMessage Status text of the server, beginning with `DOWN`. */
  constructor(readonly publicMessage: string) {
    super(publicMessage);
  }
}
