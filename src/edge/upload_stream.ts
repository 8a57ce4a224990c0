import type { IncomingMessage } from "node:http";
import { refuse } from "../model/service_error.ts";
import type { RequestGate } from "./request_gate.ts";

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
        (error) => finish(() => controller.error(refuse("ERR_CLIENT_GONE", error.message))),
      );
      request.on("close", () => finish(() => controller.error(refuse("ERR_CLIENT_GONE"))));
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
