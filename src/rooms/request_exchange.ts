import type { Answer, EdgeRequest, EdgeResponse } from "../edge/message.ts";
import { HeaderList } from "../model/header_list.ts";
import type { IncomingRequest } from "../model/incoming_request.ts";
import type { Peer } from "../model/peer.ts";
import { type ResourceResponse, WholeResponse } from "../resource/text_response.ts";

/** The service as the rooms use it. */
export type Handle = (request: IncomingRequest, peer: Peer) => Promise<ResourceResponse>;

/** Turns what crosses between the rooms into a request for the service, and its answer back. */
export function answerWith(handle: Handle): Answer {
  return async (request, signal) =>
    toEdgeResponse(await handle(new CrossedRequest(request, signal), request.peer));
}

/** A request that came from the edge: for the service the same as a web `Request`, and much cheaper. */
class CrossedRequest implements IncomingRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: HeaderList;
  readonly arrived?: Uint8Array;
  readonly #stream: ReadableStream<Uint8Array> | null;

  constructor({ method, target, headers, body }: EdgeRequest, readonly signal: AbortSignal) {
    this.method = method;
    // What the Host header says is for the router to judge; the address here only makes the target a URL.
    this.url = `https://authserver.invalid${target}`;
    this.headers = HeaderList.fromRaw(headers);
    if (body instanceof Uint8Array) this.arrived = body;
    this.#stream = body instanceof ReadableStream ? body : null;
  }

  get body(): ReadableStream<Uint8Array> | null {
    return this.arrived === undefined ? this.#stream : new Blob([new Uint8Array(this.arrived)]).stream();
  }
}

function toEdgeResponse(response: ResourceResponse): EdgeResponse {
  const headers: string[] = [];
  for (const [name, value] of response.headers) headers.push(name, value);
  const body = response instanceof WholeResponse ? response.content : response.body;
  return { status: response.status, headers, body };
}
