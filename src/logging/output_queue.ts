import { unlessAborted } from "../model/clock.ts";

const MAX_BYTES = 8 * 1024 ** 2; // waiting for the output
const TOO_SLOW = new Error("its reader is too slow");

/** Queue of texts for an output whose reader may stop: writes, one at a time, never block the thread. */
export class OutputQueue {
  #last = Promise.resolve();
  #bytes = 0;
  #failure: unknown; // until all texts are written

  /** @param waitMs Milliseconds until a write is late, or a failed one is tried again. Default: 5 s */
  constructor(readonly output: { write(bytes: Uint8Array): Promise<number> }, readonly waitMs = 5000) {}

  /** Queues a text. @throws While earlier ones cannot be written, or are late. */
  write(text: string): void {
    if (this.#bytes > MAX_BYTES) this.#failure ??= TOO_SLOW;
    if (this.#failure !== undefined) throw this.#failure;
    const bytes = new TextEncoder().encode(text);
    this.#bytes += bytes.length;
    this.#last = this.#last.then(() => this.#write(bytes));
  }

  /** Waits until all texts are written, but no longer than 2 s. */
  async flush(): Promise<void> {
    await unlessAborted(this.#last, AbortSignal.timeout(2000)).catch(() => {});
  }

  async #write(bytes: Uint8Array): Promise<void> {
    for (let at = 0; at < bytes.length;) {
      using _timer = setTimeout(() => this.#failure ??= TOO_SLOW, this.waitMs);
      try {
        at += await this.output.write(bytes.subarray(at));
      } catch (error) {
        this.#failure = error;
        await new Promise((resolve) => setTimeout(resolve, this.waitMs));
      }
    }
    this.#bytes -= bytes.length;
    if (this.#bytes === 0) this.#failure = undefined;
  }
}
