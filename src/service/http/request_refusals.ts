import { ServiceError } from "../../model/service_error.ts";

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
