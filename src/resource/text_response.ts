import { Buffer } from "node:buffer";
import { HeaderList } from "../model/header_list.ts";

/** The answer of a resource: complete from the start, or a web response with whatever body. */
export type ResourceResponse = WholeResponse | Response;

/** Status and headers of an answer to be. */
export interface ResponseFacts {
  /** Default 200. */
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
}

/** An answer that is complete from the start, as plain values: most answers are, and a web `Response` is dear. */
export class WholeResponse {
  readonly status: number;
  readonly headers: HeaderList;

  constructor(readonly content: string, { status = 200, headers = {} }: ResponseFacts = {}) {
    this.status = status;
    this.headers = new HeaderList(Object.entries(headers));
  }
}

/** A complete answer of known length. */
export function textResponse(text: string, type: string, facts?: ResponseFacts): WholeResponse {
  const response = new WholeResponse(text, facts);
  response.headers.set("Content-Type", type);
  response.headers.set("Content-Length", String(Buffer.byteLength(text)));
  return response;
}

/** JSON as stock clients read it. */
export function jsonResponse(
  value: unknown,
  { indent, ...facts }: ResponseFacts & { readonly indent?: number } = {},
): WholeResponse {
  return textResponse(JSON.stringify(value, undefined, indent), "application/json", facts);
}

/** The same answer without its content, as `HEAD` asks for it. */
export function withoutContent(response: ResourceResponse): Response {
  return new Response(null, { status: response.status, headers: [...response.headers] });
}

/** The same answer for the web. */
export function webResponse(response: ResourceResponse): Response {
  if (response instanceof Response) return response;
  const { status, headers, content } = response;
  return new Response(content === "" ? null : content, { status, headers: [...headers] });
}
