/** A stable error code: tests, clients and the manual go by it, not by the text. */
export type ErrorCode = `ERR_${Uppercase<string>}`;

/**
 * A failure the service knows by name. Each class has one code and one HTTP status; the one place that turns it into a
 * response is `src/service/http/error_response.ts`. `message` and `cause` are for the log, `publicMessage` for the caller.
 */
export abstract class ServiceError extends Error {
  /** The code of the class. */
  abstract readonly code: ErrorCode;
  /** HTTP status of the response, should the error reach the caller. */
  abstract readonly status: number;
  /** All that the caller reads: free of addresses, paths, accounts and internals. */
  abstract readonly publicMessage: string;
  /** Further response headers, such as `Retry-After`. */
  readonly headers: Readonly<Record<string, string>> = {};

  override get name(): string {
    return this.constructor.name;
  }
}
