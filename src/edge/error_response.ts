import { STATUS_CODES } from "node:http";
import { addCommonHeaders, type HeaderContext, type ResponsePolicy } from "../model/response_headers.ts";
import type { HttpError } from "../model/http_error.ts";
import { HeaderList, type HttpResponse } from "../model/http_message.ts";

interface Refused {
  readonly error: HttpError;
  readonly requestId: string;
  readonly by: HeaderContext; // as far as it is readable
}

/** Returns the response to a request that the edge refuses. */
export function refusal(
  { error, requestId, by }: Refused,
  policy: ResponsePolicy,
): HttpResponse & { readonly body: Uint8Array<ArrayBuffer> } {
  const body = new TextEncoder().encode(JSON.stringify(error.body(requestId)));
  const headers = HeaderList.of(error.headers);
  headers.set("Content-Type", "application/json");
  headers.set("Content-Length", String(body.length));
  headers.set("X-Request-Id", requestId);
  addCommonHeaders(headers, by, policy);
  return { status: error.status, headers, body };
}

/** Serialises the response for a connection without a readable request. */
export function rawErrorResponse(refused: Refused, policy: ResponsePolicy): string {
  const { status, headers, body } = refusal(refused, policy);
  const lines = [`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}`, `Date: ${new Date().toUTCString()}`];
  const { fields } = headers;
  for (let i = 0; i < fields.length; i += 2) lines.push(`${fields[i]}: ${fields[i + 1]}`);
  return `${lines.join("\r\n")}\r\n\r\n${new TextDecoder().decode(body)}`;
}
