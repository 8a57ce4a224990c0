import type { IncomingMessage } from "node:http";
import type { RequestGate } from "./request_gate.ts";

/** Milliseconds for the rest of a request that is answered already. */
const LINGER_MS = 2_000;
/** Pause of one that has to wait for its turn, in milliseconds. */
const AGAIN_MS = 500;
/** Bytes that may be read for nobody, over all connections: at once, and each further second. */
const MOST_BYTES = 16 * 1024 ** 2;
const BYTES_A_SECOND = 2 * 1024 ** 2;

/**
 * Reads the rest of requests that are answered already, for nobody, so that a client that is still sending gets to read
 * its answer. All together get so much and no more: what is read lies in memory until the engine collects it.
 */
export class Discards {
  #left = MOST_BYTES;
  #refilledAt = performance.now();

  /**
   * Reads on for a while, then cuts the client off.
   * @returns When all has come or the connection is closed.
   */
  discardRest(request: IncomingMessage, gate: Pick<RequestGate, "wantBody" | "pauseBody">): Promise<void> {
    return new Promise((resolve) => {
      if (request.complete || request.destroyed) return resolve();
      let again: ReturnType<typeof setTimeout> | undefined;
      request.removeAllListeners("data");
      request.on("data", (part: Uint8Array) => {
        if (this.#take(part.length)) return;
        gate.pauseBody();
        again = setTimeout(() => gate.wantBody(), AGAIN_MS);
      });
      gate.wantBody();
      const timer = setTimeout(() => request.socket.destroy(), LINGER_MS);
      const over = () => {
        clearTimeout(timer);
        clearTimeout(again);
        resolve();
      };
      request.once("end", over).once("close", over);
    });
  }

  #take(bytes: number): boolean {
    const now = performance.now();
    const refill = BYTES_A_SECOND * (now - this.#refilledAt) / 1000;
    this.#refilledAt = now;
    this.#left = Math.min(MOST_BYTES, this.#left + refill) - bytes;
    return this.#left > 0;
  }
}
