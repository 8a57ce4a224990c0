import { Buffer } from "node:buffer";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Body } from "../model/http_message.ts";
import { httpError } from "../model/http_error.ts";
import type { RequestGate } from "./request_gate.ts";
import { type Stopwatch, stopwatch } from "../model/clock.ts";

/** Returns a body: empty, complete if it arrived with the head, else read on demand, with `100 Continue`. */
export function bodyOf(
  request: IncomingMessage,
  response: ServerResponse,
  gate: RequestGate,
): null | Promise<Body> {
  const { "content-length": length, "transfer-encoding": coding } = request.headers;
  const none = coding === undefined && (length === undefined || Number(length) === 0);
  return none ? null : pendingBody(request, response, gate);
}

async function pendingBody(request: IncomingMessage, response: ServerResponse, gate: RequestGate) {
  await Promise.resolve(); // the parser must finish the read first
  if (request.complete) return receivedBody(request);
  return uploadStream(request, gate, () => {
    if (request.headers.expect !== undefined && request.httpVersion === "1.1") response.writeContinue();
  });
}

/** Copies the bytes, so that they can be transferred to another worker. */
function receivedBody(request: IncomingMessage): Uint8Array<ArrayBuffer> {
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

const LINGER_MS = 2_000; // time to drain an answered request
const AGAIN_MS = 500; // pause between turns
const MAX_BYTES = 16 * 1024 ** 2; // bytes drained at once over all connections
const BYTES_A_SECOND = 2 * 1024 ** 2;

const ALLOWANCE = 64 * 1024; // bytes per turn and request: one network read

/** Drains bodies of answered requests, so that clients can read their response; bounded in total memory. */
export class BodyDrainer {
  #left = MAX_BYTES;
  #refilledAt: number;

  constructor(readonly elapsed: Stopwatch = stopwatch) {
    this.#refilledAt = elapsed();
  }

  drainBody(request: IncomingMessage, gate: Pick<RequestGate, "wantBody" | "pauseBody">): Promise<void> {
    return new Promise((resolve) => {
      if (request.complete || request.destroyed) return resolve();
      let allowed = 0;
      let again: ReturnType<typeof setTimeout> | undefined;
      const proceed = () => {
        allowed += this.#allow();
        if (allowed > 0) gate.wantBody();
        else again = setTimeout(proceed, AGAIN_MS);
      };
      request.removeAllListeners("data");
      request.on("data", (part: Uint8Array) => {
        allowed -= part.length;
        if (allowed <= 0) allowed += this.#allow();
        if (allowed > 0) return;
        gate.pauseBody();
        clearTimeout(again);
        again = setTimeout(proceed, AGAIN_MS);
      });
      const timer = setTimeout(() => request.socket.destroy(), LINGER_MS);
      const over = () => {
        clearTimeout(timer);
        clearTimeout(again);
        this.#left += Math.max(0, allowed);
        allowed = 0;
        resolve();
      };
      request.once("end", over).once("close", over);
      proceed();
    });
  }

  /** Returns the bytes that a request may read next; 0: wait. */
  #allow(): number {
    const now = this.elapsed();
    const refill = BYTES_A_SECOND * (now - this.#refilledAt) / 1000;
    this.#refilledAt = now;
    this.#left = Math.min(MAX_BYTES, this.#left + refill);
    if (this.#left < ALLOWANCE) return 0;
    this.#left -= ALLOWANCE;
    return ALLOWANCE;
  }
}
