import { COMMON_HEADERS, type ErrorBody } from "../model/error_body.ts";
import { ServiceError } from "../model/service_error.ts";
import type { EdgeResponse } from "./message.ts";

/** The body of a request is longer than any this service reads whole. */
export class BodyTooLarge extends ServiceError {
  readonly code = "ERR_BODY_TOO_LARGE";
  readonly status = 413;
  readonly publicMessage = "The request body is too large";
  override readonly headers = { Connection: "close" };
}

/** The body of a request did not arrive in time. */
export class BodyTooSlow extends ServiceError {
  readonly code = "ERR_REQUEST_TIMEOUT";
  readonly status = 408;
  readonly publicMessage = "The request took too long to arrive";
  override readonly headers = { Connection: "close" };
}

/** The client went away while its request was read; nobody sees the answer. */
export class ClientGone extends ServiceError {
  readonly code = "ERR_CLIENT_GONE";
  readonly status = 400;
  readonly publicMessage = "The request ended early";
}

/** What arrived is not an HTTP request. */
export class NotHttp extends ServiceError {
  readonly code = "ERR_BAD_REQUEST";
  readonly status = 400;
  readonly publicMessage = "The request could not be read";
  override readonly headers = { Connection: "close" };
}

/** A method that no resource has, and that a `Request` cannot even carry (Fetch standard, 2.2.1). */
export class MethodForbidden extends ServiceError {
  readonly code = "ERR_METHOD_NOT_ALLOWED";
  readonly status = 405;
  readonly publicMessage = "This method is not allowed here";
  override readonly headers = { Allow: "GET, HEAD, POST, PUT, DELETE, OPTIONS" };
}

/** The header block of a request is over the limit (RFC 6585, 5). */
export class HeadersTooLarge extends ServiceError {
  readonly code = "ERR_HEADERS_TOO_LARGE";
  readonly status = 431;
  readonly publicMessage = "The request header fields are too large";
  override readonly headers = { Connection: "close" };
}

/** No core is there to answer: it is starting, or being replaced. */
export class ServiceStarting extends ServiceError {
  readonly code = "ERR_SERVICE_STARTING";
  readonly status = 503;
  readonly publicMessage = "The service is starting, please try again";
  override readonly headers = { "Retry-After": "1" };
}

/** A defect of ours. */
export class EdgeFailure extends ServiceError {
  readonly code = "ERR_INTERNAL";
  readonly status = 500;
  readonly publicMessage = "Internal error";
}

/** The answer to a request that the edge itself turns away. */
export function refusal(
  error: ServiceError,
  requestId: string,
): EdgeResponse & { readonly body: Uint8Array } {
  const content: ErrorBody = {
    status: error.status,
    errorMessage: error.publicMessage,
    code: error.code,
    requestId,
  };
  const body = new TextEncoder().encode(JSON.stringify(content));
  const headers = {
    ...COMMON_HEADERS,
    ...error.headers,
    "Content-Type": "application/json",
    "Content-Length": String(body.length),
  };
  return { status: error.status, headers: Object.entries(headers).flat(), body };
}

/** The same as text, for a connection on which no request could be read. */
export function rawRefusal(error: ServiceError, requestId: string): string {
  const { status, headers, body } = refusal(error, requestId);
  const lines = [`HTTP/1.1 ${status} ${error.code}`];
  for (let i = 0; i + 1 < headers.length; i += 2) lines.push(`${headers[i]}: ${headers[i + 1]}`);
  return `${lines.join("\r\n")}\r\n\r\n${new TextDecoder().decode(body)}`;
}
