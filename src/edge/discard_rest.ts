import type { IncomingMessage } from "node:http";
import type { RequestGate } from "./request_gate.ts";

/** Milliseconds for the rest of a request that is answered already. */
const LINGER_MS = 2_000;

/**
 * Reads on for a while, for nobody, so that a client that is still sending gets to read its answer; then cuts it off.
 * @returns When all has come or the connection is closed.
 */
export function discardRest(request: IncomingMessage, gate: Pick<RequestGate, "wantBody">): Promise<void> {
  return new Promise((resolve) => {
    if (request.complete || request.destroyed) return resolve();
    request.removeAllListeners("data");
    request.resume();
    gate.wantBody();
    const timer = setTimeout(() => request.socket.destroy(), LINGER_MS);
    const over = () => {
      clearTimeout(timer);
      resolve();
    };
    request.once("end", over).once("close", over);
  });
}
