import { Buffer } from "node:buffer";
import { HeaderList } from "../model/header_list.ts";
import type { HttpResponse } from "../model/http_message.ts";

/** Status and headers of an answer to be. */
export interface ResponseFacts {
  /** Default 200. */
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A complete answer of known length. */
export function textResponse(
  text: string,
  type: string,
  { status = 200, headers = {} }: ResponseFacts = {},
): HttpResponse {
  const content = { "Content-Type": type, "Content-Length": String(Buffer.byteLength(text)) };
  return { status, headers: HeaderList.of({ ...headers, ...content }), body: text };
}

/** JSON as stock clients read it. */
export function jsonResponse(
  value: unknown,
  { indent, ...facts }: ResponseFacts & { readonly indent?: number } = {},
): HttpResponse {
  return textResponse(JSON.stringify(value, undefined, indent), "application/json", facts);
}

/** An answer that says all with its status and headers. */
export function emptyResponse({ status = 200, headers = {} }: ResponseFacts = {}): HttpResponse {
  return { status, headers: HeaderList.of({ ...headers, "Content-Length": "0" }), body: null };
}
