import type { HeaderReader } from "./header_list.ts";

/** What the service reads of a request. Every web `Request` is one; what comes from another room is a lighter one. */
export interface IncomingRequest {
  readonly method: string;
  /** Absolute; its origin says nothing. */
  readonly url: string;
  readonly headers: HeaderReader;
  /** The client is asked to send it when this is first read. */
  readonly body: ReadableStream<Uint8Array> | null;
  /** The whole body, if it was short and came along with the head. */
  readonly arrived?: Uint8Array;
  /** Aborted when the client is gone. */
  readonly signal: AbortSignal;
}
