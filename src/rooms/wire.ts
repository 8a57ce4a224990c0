import type { HttpRequest, WholeBody } from "../model/http_message.ts";

/** What an end of the link says about one request, which both ends know by its number. */
export type LinkMessage =
  /** Edge to core: a request. A streamed body follows in chunks. */
  | Omit<HttpRequest, "headers" | "body"> & {
    readonly kind: "request";
    readonly id: number;
    /** Names and values in turn. */
    readonly fields: string[];
    readonly body: WholeBody;
    readonly streamed: boolean;
  }
  /** Core to edge: its answer. */
  | {
    readonly kind: "response";
    readonly id: number;
    readonly status: number;
    readonly fields: string[];
    readonly body: WholeBody | string;
    readonly streamed: boolean;
  }
  /** A part of a streamed body; only sent against credit. */
  | { readonly kind: "chunk"; readonly id: number; readonly bytes: Uint8Array }
  /** The streamed body is complete. */
  | { readonly kind: "end"; readonly id: number }
  /** The streamed body broke off; what was sent of it is worthless. */
  | { readonly kind: "broken"; readonly id: number }
  /** The reader of a streamed body takes so many more chunks. */
  | { readonly kind: "credit"; readonly id: number; readonly chunks: number }
  /** The reader of a streamed body wants no more of it. */
  | { readonly kind: "cancel"; readonly id: number }
  /** Edge to core: the client is gone, the answer is of no use. */
  | { readonly kind: "gone"; readonly id: number };

/** Chunks of one stream that may be on the way, or wait for their reader, at most. */
export const MOST_CREDIT = 16;

/** Chunks that all streams into one room may have on the way, or wait for their readers, beyond one for each. */
export const MOST_AHEAD = 128;

/** Bytes in one chunk at most. */
export const CHUNK_BYTES = 64 * 1024;

/** Messages that travel together at most: the other room shall begin with the first before the last are made. */
const BATCH_MESSAGES = 8;

/**
 * One end of a link between two rooms. Messages of the same turn of the event loop travel together: posting has a price
 * of its own, whatever is posted. Chunks hand their memory over instead of copying it.
 */
export class LinkEnd {
  readonly #port: MessagePort;
  #batch: LinkMessage[] = [];
  #transfer: ArrayBuffer[] = [];

  constructor(port: MessagePort, receive: (message: LinkMessage) => void) {
    this.#port = port;
    port.onmessage = ({ data }: MessageEvent<LinkMessage[]>) => data.forEach(receive);
  }

  send(message: LinkMessage): void {
    if (message.kind === "chunk" && message.bytes.buffer instanceof ArrayBuffer) {
      this.#transfer.push(message.bytes.buffer);
    }
    this.#batch.push(message);
    if (this.#batch.length === 1) setImmediate(() => this.#flush());
    else if (this.#batch.length === BATCH_MESSAGES) this.#flush();
  }

  close(): void {
    this.#port.close();
  }

  #flush(): void {
    if (this.#batch.length === 0) return;
    const batch = this.#batch;
    const transfer = this.#transfer;
    this.#batch = [];
    this.#transfer = [];
    // Without a list, even an empty one, the runtime goes a way of half the price.
    if (transfer.length === 0) this.#port.postMessage(batch);
    else this.#port.postMessage(batch, transfer);
  }
}
