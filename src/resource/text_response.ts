import { Buffer } from "node:buffer";
import { HeaderList, type HttpResponse } from "../model/http_message.ts";

export interface ResponseFacts {
  readonly status?: number; // default 200
  readonly headers?: Readonly<Record<string, string>>;
}

/** Returns a response of known length. */
export function textResponse(
  text: string,
  type: string,
  { status = 200, headers = {} }: ResponseFacts = {},
): HttpResponse {
  const list = HeaderList.of(headers);
  list.fields.push("Content-Type", type, "Content-Length", String(Buffer.byteLength(text)));
  return { status, headers: list, body: text };
}

/** Returns a JSON response in the form that stock clients read. */
export function jsonResponse(
  value: unknown,
  { indent, ...facts }: ResponseFacts & { readonly indent?: number } = {},
): HttpResponse {
  return textResponse(JSON.stringify(value, undefined, indent), "application/json", facts);
}

/** Returns a response without body; 204 must not have a `Content-Length` (RFC 9110, 8.6). */
export function emptyResponse({ status = 200, headers = {} }: ResponseFacts = {}): HttpResponse {
  const list = HeaderList.of(headers);
  if (status !== 204) list.fields.push("Content-Length", "0");
  return { status, headers: list, body: null };
}

/** Returns a redirect to a page (RFC 9110, 15.4.4). */
export function redirect(location: string, headers: Readonly<Record<string, string>> = {}): HttpResponse {
  return emptyResponse({ status: 303, headers: { ...headers, Location: location } });
}
