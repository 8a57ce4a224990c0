import type { HeaderList } from "./header_list.ts";
import type { Peer } from "./peer.ts";
import type { RequestTarget } from "./request_target.ts";

/** Complete body, or no body. */
export type WholeBody = Uint8Array<ArrayBuffer> | null;

/** Body: empty, complete or streamed. A stream reads its source only on demand. */
export type Body = WholeBody | ReadableStream<Uint8Array>;

/** HTTP request between edge and resource. */
export interface HttpRequest extends RequestTarget {
  readonly method: string;
  readonly headers: HeaderList;
  readonly client: Peer;
  readonly body: Body;
}

/** HTTP response between resource and edge. */
export interface HttpResponse {
  readonly status: number;
  readonly headers: HeaderList;
  readonly body: Body | string;
}

/** Request handler. The signal aborts when the client disconnects; a rejection is a defect, which the caller logs. */
export type Answer = (request: HttpRequest, signal: AbortSignal) => Promise<HttpResponse>;
