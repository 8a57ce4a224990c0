import type { Answer, EdgeRequest, EdgeResponse } from "../edge/message.ts";
import type { Peer } from "../model/peer.ts";
import { WholeResponse } from "../resource/text_response.ts";

/** The service as a function of web standard values; the same that a host server mounts. */
export type Handle = (request: Request, peer: Peer) => Promise<Response>;

/** Bodies up to this many bytes cross to the edge in one message. */
const WHOLE_BYTES = 256 * 1024;

/** Turns what crosses between the rooms into a `Request`, and the `Response` back. */
export function answerWith(handle: Handle): Answer {
  return async (request, signal) =>
    await toEdgeResponse(await handle(toRequest(request, signal), request.peer));
}

function toRequest({ method, target, headers, body }: EdgeRequest, signal: AbortSignal): Request {
  const list: [string, string][] = [];
  for (let i = 0; i + 1 < headers.length; i += 2) list.push([headers[i] ?? "", headers[i + 1] ?? ""]);
  // What the Host header says is for the router to judge; the address here only makes the target a URL.
  const url = `https://authserver.invalid${target}`;
  const hasBody = method !== "GET" && method !== "HEAD" && body !== null;
  return new Request(url, { method, headers: list, signal, ...(hasBody && { body: toBodyInit(body) }) });
}

function toBodyInit(body: Uint8Array | ReadableStream<Uint8Array>): BodyInit {
  return body instanceof ReadableStream ? body : new Uint8Array(body);
}

/** A complete body crosses whole if it is small; everything else flows. */
function toEdgeResponse(response: Response): EdgeResponse {
  const headers: string[] = [];
  for (const [name, value] of response.headers) headers.push(name, value);
  const { status } = response;
  const whole = response instanceof WholeResponse && response.content.length <= WHOLE_BYTES;
  return { status, headers, body: whole ? response.content : response.body };
}
