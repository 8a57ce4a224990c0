import { STATUS_CODES } from "node:http";
import { addCommonHeaders, type AnswerPolicy, type AskedBy } from "../model/answer_headers.ts";
import type { ErrorBody } from "../model/error_body.ts";
import { HeaderList } from "../model/header_list.ts";
import type { HttpResponse } from "../model/http_message.ts";
import { ServiceError } from "../model/service_error.ts";

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

/** The request did not arrive in time. */
export class RequestTooSlow extends ServiceError {
  readonly code = "ERR_REQUEST_TIMEOUT";
  readonly status = 408;
  readonly publicMessage = "The request took too long to arrive";
  override readonly headers = { Connection: "close" };
}

/** A refusal and what it is about. */
export interface Refused {
  readonly error: ServiceError;
  readonly requestId: string;
  /** As far as it could be read. */
  readonly by: AskedBy;
}

/** The answer to a request that the edge itself turns away. */
export function refusal(
  { error, requestId, by }: Refused,
  policy: AnswerPolicy,
): HttpResponse & { readonly body: Uint8Array<ArrayBuffer> } {
  const content: ErrorBody = {
    status: error.status,
    errorMessage: error.publicMessage,
    code: error.code,
    requestId,
  };
  const body = new TextEncoder().encode(JSON.stringify(content));
  const headers = HeaderList.of(error.headers);
  headers.set("Content-Type", "application/json");
  headers.set("Content-Length", String(body.length));
  addCommonHeaders(headers, requestId, by, policy);
  return { status: error.status, headers, body };
}

/** The same as text, for a connection on which no request could be read. */
export function rawRefusal(refused: Refused, policy: AnswerPolicy): string {
  const { status, headers, body } = refusal(refused, policy);
  const lines = [`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}`, `Date: ${new Date().toUTCString()}`];
  const { fields } = headers;
  for (let i = 0; i < fields.length; i += 2) lines.push(`${fields[i]}: ${fields[i + 1]}`);
  return `${lines.join("\r\n")}\r\n\r\n${new TextDecoder().decode(body)}`;
}
