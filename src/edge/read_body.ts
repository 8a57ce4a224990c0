import { Buffer } from "node:buffer";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Body } from "../model/http_message.ts";
import type { RequestGate } from "./request_gate.ts";
import { uploadStream } from "./upload_stream.ts";

/**
 * The body of a request: none, whole if it came along with the head, else a stream. What is still to come is read when
 * the stream is: no client is asked for a body before somebody wants it, with `100 Continue` where it waits for that.
 */
export function bodyOf(
  request: IncomingMessage,
  response: ServerResponse,
  gate: RequestGate,
): null | Promise<Body> {
  const { "content-length": length, "transfer-encoding": coding } = request.headers;
  const none = coding === undefined && (length === undefined || Number(length) === 0);
  return none ? null : comingBody(request, response, gate);
}

async function comingBody(
  request: IncomingMessage,
  response: ServerResponse,
  gate: RequestGate,
): Promise<Body> {
  await Promise.resolve(); // until the rest of what came with the head is parsed
  if (request.complete) return atHand(request);
  return uploadStream(request, gate, () => {
    if (request.headers.expect !== undefined && request.httpVersion === "1.1") response.writeContinue();
  });
}

/** A copy, so that it owns its memory and can be handed over to another room. */
function atHand(request: IncomingMessage): Uint8Array<ArrayBuffer> {
  const parts: Uint8Array[] = [];
  for (let part: Uint8Array | null; (part = request.read()) !== null;) parts.push(part);
  return new Uint8Array(Buffer.concat(parts));
}
