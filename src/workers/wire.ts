import type { WholeBody } from "../model/http_message.ts";
import type { Peer } from "../model/peer.ts";

/** Message about one call, which both ends know by its id. */
export type ChannelMessage = RequestMessage | ResponseMessage | StreamMessage;

/**
 * Request from the edge. The chunks of a streamed body follow; headers are names and values in turn. It is a list because
 * there are many: the platform copies an object with the names of its members, and needs half as long again.
 */
export type RequestMessage = readonly [
  kind: "request",
  id: number,
  method: string,
  path: string,
  query: string,
  client: Peer,
  headers: string[],
  body: WholeBody,
  streamed: boolean,
];

/** Response from the core, likewise. */
export type ResponseMessage = readonly [
  kind: "response",
  id: number,
  status: number,
  headers: string[],
  body: WholeBody | string,
  streamed: boolean,
];

/** Message about the streamed body of a call, or the end of its client. */
export type StreamMessage =
  /** Sent only against credit. */
  | { readonly kind: "chunk"; readonly id: number; readonly bytes: Uint8Array }
  /** The body is complete. */
  | { readonly kind: "end"; readonly id: number }
  /** The body broke off: its receiver discards it. */
  | { readonly kind: "broken"; readonly id: number }
  /** The reader takes so many more chunks. */
  | { readonly kind: "credit"; readonly id: number; readonly chunks: number }
  /** The reader wants no more chunks. */
  | { readonly kind: "cancel"; readonly id: number }
  /** From the edge: the client is gone, nobody needs the response. */
  | { readonly kind: "gone"; readonly id: number };

/** Chunks of one stream that may be on the way, or wait for their reader, at most. */
export const MOST_CREDIT = 16;

/**
 * Chunks that all streams into one worker may have on the way, or wait for their readers, without being asked for: 4 MiB. Four
 * times as many are no faster, and 20 archives and 20 uploads at once took 45 MiB more with them.
 */
export const MOST_AHEAD = 64;

/** Bytes in one chunk at most. */
export const CHUNK_BYTES = 64 * 1024;

/** Messages that travel together at most: the other worker shall begin with the first before the last are made. */
const BATCH_MESSAGES = 8;

/**
 * One end of a channel between two workers. Messages of the same turn of the event loop travel together: posting has a price
 * of its own, whatever is posted. Chunks hand their memory over instead of copying it.
 */
export class ChannelEnd {
  readonly #port: MessagePort;
  #batch: ChannelMessage[] = [];
  #transfer: ArrayBuffer[] = [];

  constructor(port: MessagePort, receive: (message: ChannelMessage) => void) {
    this.#port = port;
    port.onmessage = ({ data }: MessageEvent<ChannelMessage[]>) => {
      for (const message of data) receive(message);
    };
  }

  send(message: ChannelMessage): void {
    if ("kind" in message && message.kind === "chunk" && message.bytes.buffer instanceof ArrayBuffer) {
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
