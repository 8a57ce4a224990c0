import { Buffer } from "node:buffer";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Body } from "../model/http_message.ts";
import { httpError } from "../model/http_error.ts";
import type { RequestGate } from "./request_gate.ts";

/** Returns a body: empty, complete if it came with the head, else read on demand, with `100 Continue`. */
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
  await Promise.resolve(); // the parser has to finish the read
  if (request.complete) return atHand(request);
  return uploadStream(request, gate, () => {
    if (request.headers.expect !== undefined && request.httpVersion === "1.1") response.writeContinue();
  });
}

/** Copies the bytes, so that they can be transferred to another worker. */
function atHand(request: IncomingMessage): Uint8Array<ArrayBuffer> {
  const parts: Uint8Array[] = [];
  for (let part: Uint8Array | null; (part = request.read()) !== null;) parts.push(part);
  return new Uint8Array(Buffer.concat(parts));
}

/** Streams a body with back-pressure. @param asked Called on the first read. */
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
