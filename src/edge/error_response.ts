import { STATUS_CODES } from "node:http";
import { Counters, type Increments, methodLabel } from "../metrics/counters.ts";
import { addCommonHeaders, type AnswerPolicy, type AskedBy } from "../model/answer_headers.ts";
import type { ErrorBody } from "../model/error_body.ts";
import { HeaderList } from "../model/header_list.ts";
import type { HttpResponse } from "../model/http_message.ts";
import { HttpError } from "../model/http_error.ts";

/** A refusal and what it is about. */
interface Refused {
  readonly error: HttpError;
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
  headers.set("X-Request-Id", requestId);
  addCommonHeaders(headers, by, policy);
  return { status: error.status, headers, body };
}

/** The same as text, for a connection on which no request could be read. */
export function rawErrorResponse(refused: Refused, policy: AnswerPolicy): string {
  const { status, headers, body } = refusal(refused, policy);
  const lines = [`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}`, `Date: ${new Date().toUTCString()}`];
  const { fields } = headers;
  for (let i = 0; i < fields.length; i += 2) lines.push(`${fields[i]}: ${fields[i + 1]}`);
  return `${lines.join("\r\n")}\r\n\r\n${new TextDecoder().decode(body)}`;
}

/** Counts the answers that the edge gives by itself, among all requests of the service. */
export class ErrorResponseCount {
  readonly #counters = new Counters();

  /** @param method Empty if it could not be read. */
  add(method: string, status: number): void {
    const labels = { route: "none", method: methodLabel(method), code: String(status) };
    this.#counters.count("authserver_requests_total", labels);
  }

  take(): Increments {
    return this.#counters.take();
  }
}
