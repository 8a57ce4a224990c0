import type { Peer } from "../model/peer.ts";

/** A body: none, all of it, or its parts as they come. */
export type Body = Uint8Array | ReadableStream<Uint8Array> | null;

/** One HTTP request as the edge hands it on: its limits are kept, its contents are not judged. */
export interface EdgeRequest {
  readonly method: string;
  /** Request target in origin form, such as `/rest/auth?x=1`. */
  readonly target: string;
  /** Names and values in turn, as received. */
  readonly headers: readonly string[];
  readonly peer: Peer;
  readonly body: Body;
}

/** The answer to an {@link EdgeRequest}. */
export interface EdgeResponse {
  readonly status: number;
  /** Names and values in turn. */
  readonly headers: readonly string[];
  readonly body: Body | string;
}

/**
 * Answers requests. The signal is aborted when the client is gone.
 * A rejection is a defect; the edge answers 500 and logs it.
 */
export type Answer = (request: EdgeRequest, signal: AbortSignal) => Promise<EdgeResponse>;
