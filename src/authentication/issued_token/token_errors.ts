import { ServiceError } from "../../model/service_error.ts";

/** A caller without an identity asked for a token. */
export class TokenNeedsIdentity extends ServiceError {
  readonly code = "ERR_TOKEN_NEEDS_IDENTITY";
  readonly status = 401;
  readonly publicMessage = "Authentication is required to get a token";

  constructor() {
    super("An anonymous caller asked for a token");
  }
}

/** A caller who showed a token asked for another one, which that token does not allow. */
export class TokenNotRenewable extends ServiceError {
  readonly code = "ERR_TOKEN_NOT_RENEWABLE";
  readonly status = 403;
  readonly publicMessage = "The token cannot be renewed";

  constructor(reason: string) {
    super(`The token cannot be renewed: ${reason}`);
  }
}

/** A query parameter for a token cannot be read. */
export class InvalidTokenRequest extends ServiceError {
  readonly code = "ERR_INVALID_TOKEN_REQUEST";
  readonly status = 400;

  constructor(readonly publicMessage: string) {
    super(publicMessage);
  }
}

/** The token lifetime asked for is more than is possible. */
export class TokenLifetimeTooLong extends ServiceError {
  readonly code = "ERR_TOKEN_LIFETIME";
  readonly status = 400;
  readonly publicMessage: string;

  /** @param longest Seconds that are possible. */
  constructor(readonly longest: number) {
    super(`A token lifetime of more than ${longest} s was asked for`);
    this.publicMessage = `The token lifetime must not exceed ${longest} seconds, ` +
      "the operator can permit more with container.security.rest.jwt.maxLifetime";
  }
}

/** The server's own certificate does not allow to issue tokens now. */
export class TokensUnavailable extends ServiceError {
  readonly code = "ERR_TOKENS_UNAVAILABLE";
  readonly status = 503;
  readonly publicMessage = "Tokens cannot be issued at the moment";
  override readonly headers = { "Retry-After": "60" };

  constructor(reason: string, cause?: unknown) {
    super(`No token can be issued: ${reason}`, { cause });
  }
}
