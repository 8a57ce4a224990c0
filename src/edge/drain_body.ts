import type { IncomingMessage } from "node:http";
import { type Stopwatch, stopwatch } from "../model/clock.ts";
import type { RequestGate } from "./request_gate.ts";

const LINGER_MS = 2_000; // time to drain an answered request
const AGAIN_MS = 500; // pause between turns
const MOST_BYTES = 16 * 1024 ** 2; // bytes drained at once over all connections
const BYTES_A_SECOND = 2 * 1024 ** 2;

const ALLOWANCE = 64 * 1024; // bytes per turn and request: one network read

/** Drains bodies of answered requests, so that clients can read their response; bounded in total memory. */
export class Discards {
  #left = MOST_BYTES;
  #refilledAt: number;
  readonly #elapsed: Stopwatch;

  constructor(elapsed: Stopwatch = stopwatch) {
    this.#elapsed = elapsed;
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
    const now = this.#elapsed();
    const refill = BYTES_A_SECOND * (now - this.#refilledAt) / 1000;
    this.#refilledAt = now;
    this.#left = Math.min(MOST_BYTES, this.#left + refill);
    if (this.#left < ALLOWANCE) return 0;
    this.#left -= ALLOWANCE;
    return ALLOWANCE;
  }
}
