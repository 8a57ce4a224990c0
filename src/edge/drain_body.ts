import type { IncomingMessage } from "node:http";
import { type Stopwatch, stopwatch } from "../model/clock.ts";
import type { RequestGate } from "./request_gate.ts";

/** Milliseconds for the rest of a request that is answered already. */
const LINGER_MS = 2_000;
/** Pause of one that has to wait for its turn, in milliseconds. */
const AGAIN_MS = 500;
/** Bytes that may be read for nobody, over all connections: at once, and each further second. */
const MOST_BYTES = 16 * 1024 ** 2;
const BYTES_A_SECOND = 2 * 1024 ** 2;

/** Bytes that one request is allowed to read at a time: one read of the network. */
const ALLOWANCE = 64 * 1024;

/**
 * Reads the rest of requests that are answered already, for nobody, so that a client that is still sending gets to read
 * its answer. All together get so much and no more: what is read lies in memory until the engine collects it.
 */
export class Discards {
  #left = MOST_BYTES;
  #refilledAt: number;
  readonly #elapsed: Stopwatch;

  constructor(elapsed: Stopwatch = stopwatch) {
    this.#elapsed = elapsed;
    this.#refilledAt = elapsed();
  }

  /**
   * Reads on for a while, then cuts the client off.
   * @returns When all has come or the connection is closed.
   */
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

  /** @returns Bytes that one request may read next; 0 if it has to wait. */
  #allow(): number {
    const now = this.#elapsed();
    const refill = BYTES_A_SECOND * (now - this.#refilledAt) / 1000;
    this.#refilledAt = now;
    this.#left = Math.min(MOST_BYTES, this.#left + refill);
    if (this.#left < ALLOWANCE) return 0;
    this.#left -= ALLOWANCE;
    return ALLOWANCE;
  }
}
