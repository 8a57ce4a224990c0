import type { HeaderReader } from "./header_list.ts";

/** What the service reads of a request. Every web `Request` is one; what comes from another room is a lighter one. */
export interface IncomingRequest {
  readonly method: string;
  /** Absolute; its origin says nothing. */
  readonly url: string;
  readonly headers: HeaderReader;
  readonly body: ReadableStream<Uint8Array> | null;
  /** Aborted when the client is gone. */
  readonly signal: AbortSignal;
  /** The body as JSON. @throws {SyntaxError} If it is none. */
  json(): Promise<unknown>;
}
