import type { IncomingMessage } from "node:http";
import { inflowOf } from "./inflow.ts";
import { ClientGone } from "./refusal.ts";

/** Bytes of an upload that wait here until they are asked for, before the client has to wait. */
const WAITING_BYTES = 256 * 1024;

/** The body of a request as a stream that reads from the network no faster than it is read itself. */
export function uploadStream(request: IncomingMessage): ReadableStream<Uint8Array> {
  const inflow = inflowOf(request.socket);
  let open = true;
  const finish = (end: () => void) => {
    if (!open) return;
    open = false;
    end();
    inflow.start();
  };
  return new ReadableStream<Uint8Array>({
    start(controller) {
      request.on("data", (part: Uint8Array) => {
        if (!open) return;
        controller.enqueue(part);
        if ((controller.desiredSize ?? 0) <= 0) inflow.stop();
      });
      request.on("end", () => finish(() => controller.close()));
      request.on("error", (error) => finish(() => controller.error(new ClientGone(error.message))));
      request.on("close", () => finish(() => controller.error(new ClientGone())));
    },
    pull: () => inflow.start(),
    cancel: () => finish(() => {}),
  }, new ByteLengthQueuingStrategy({ highWaterMark: WAITING_BYTES }));
}
