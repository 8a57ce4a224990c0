import type { HeaderList } from "./header_list.ts";
import type { Peer } from "./peer.ts";
import type { RequestTarget } from "./request_target.ts";

/** A body that is whole, or none. */
export type WholeBody = Uint8Array<ArrayBuffer> | null;

/** A body: none, all of it, or its parts as they come. A stream asks its source for nothing before it is read. */
export type Body = WholeBody | ReadableStream<Uint8Array>;

/** One HTTP request, from whoever took it off the network to the resource that answers it: one shape all the way. */
export interface HttpRequest extends RequestTarget {
  readonly method: string;
  /** As received. */
  readonly headers: HeaderList;
  readonly client: Peer;
  readonly body: Body;
}

/** The answer to an {@link HttpRequest}, all the way back. */
export interface HttpResponse {
  readonly status: number;
  readonly headers: HeaderList;
  readonly body: Body | string;
}

/**
 * Answers requests. The signal is aborted when the client is gone. A rejection is a defect, which whoever asked logs and
 * turns into an answer of its own.
 */
export type Answer = (request: HttpRequest, signal: AbortSignal) => Promise<HttpResponse>;
