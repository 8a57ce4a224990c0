import { Buffer } from "node:buffer";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Body } from "../model/http_message.ts";
import { httpError } from "../model/http_error.ts";
import type { RequestGate } from "./request_gate.ts";

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

/** A copy, so that it owns its memory and can be handed over to another worker. */
function atHand(request: IncomingMessage): Uint8Array<ArrayBuffer> {
  const parts: Uint8Array[] = [];
  for (let part: Uint8Array | null; (part = request.read()) !== null;) parts.push(part);
  return new Uint8Array(Buffer.concat(parts));
}

/**
 * The body of a request as a stream that reads from the network no faster than it is read itself, and before that not at
 * all.
 * @param asked Called when the body is asked for.
 */
export function uploadStream(
  request: IncomingMessage,
  gate: Pick<RequestGate, "wantBody" | "pauseBody">,
  asked: () => void,
): ReadableStream<Uint8Array> {
  let open = true;
  let begun = false;
  const finish = (end: () => void) => {
    if (!open) return;
    open = false;
    end();
  };
  return new ReadableStream<Uint8Array>({
    start(controller) {
      request.on("end", () => finish(() => controller.close()));
      request.on(
        "error",
        (error) => finish(() => controller.error(httpError("ERR_CLIENT_GONE", error.message))),
      );
      request.on("close", () => finish(() => controller.error(httpError("ERR_CLIENT_GONE"))));
    },
    pull(controller) {
      gate.wantBody();
      if (begun) return;
      begun = true;
      asked();
      request.on("data", (part: Uint8Array) => {
        if (!open) return;
        controller.enqueue(part);
        if ((controller.desiredSize ?? 0) <= 0) gate.pauseBody();
      });
    },
    cancel: () => finish(() => gate.pauseBody()),
  }, { highWaterMark: 0 });
}
