import type { IncomingMessage } from "node:http";
import { ClientGone } from "./refusal.ts";
import { tcpFlow } from "./tcp_flow.ts";

/** Bytes of an upload that wait to be read before its client is held back. */
const AHEAD = 256 * 1024;

/**
 * The body of a share upload as it comes, no faster than it is read; fails with {@link ClientGone} if it breaks off.
 * Who cancels it leaves the connection as it is: the client is still there for the answer.
 */
export function uploadStream(request: IncomingMessage): ReadableStream<Uint8Array> {
  const flow = tcpFlow(request.socket);
  let stop = () => {};
  return new ReadableStream<Uint8Array>({
    start(controller) {
      const onData = (part: Uint8Array) => {
        controller.enqueue(part);
        if ((controller.desiredSize ?? 0) > 0) return;
        request.pause();
        flow.stop();
      };
      const onEnd = () => {
        stop();
        controller.close();
      };
      const onGone = () => {
        stop();
        controller.error(new ClientGone("the upload broke off"));
      };
      stop = () => {
        request.off("data", onData).off("end", onEnd).off("close", onGone).off("error", onGone);
      };
      request.on("data", onData).on("end", onEnd).on("close", onGone).on("error", onGone);
      request.pause();
    },
    pull() {
      flow.start();
      request.resume();
    },
    cancel() {
      stop();
      flow.start();
    },
  }, new ByteLengthQueuingStrategy({ highWaterMark: AHEAD }));
}
