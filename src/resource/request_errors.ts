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

/** The body is of a type that the resource does not read (RFC 9110, 15.5.16). */
export class UnsupportedMediaType extends ServiceError {
  readonly code = "ERR_UNSUPPORTED_MEDIA_TYPE";
  readonly status = 415;
  readonly publicMessage: string;

  constructor(expected: string) {
    super(`expected ${expected}`);
    this.publicMessage = `The request body must be of type ${expected}`;
  }
}

/** The caller accepts none of the types that the resource has (RFC 9110, 15.5.7). */
export class NotAcceptable extends ServiceError {
  readonly code = "ERR_NOT_ACCEPTABLE";
  readonly status = 406;
  readonly publicMessage: string;

  constructor(offered: readonly string[]) {
    super(`offered: ${offered.join(", ")}`);
    this.publicMessage = `This resource is available as ${offered.join(", ")}`;
  }
}

/** An authenticated caller who may not do this. */
export class Forbidden extends ServiceError {
  readonly code = "ERR_FORBIDDEN";
  readonly status = 403;
  readonly publicMessage = "You may not do this";
}
