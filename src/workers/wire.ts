import type { Peer, WholeBody } from "../model/http_message.ts";

/** Message about one call, identified by its id. */
export type ChannelMessage = RequestMessage | ResponseMessage | StreamMessage;

/**
 * Request from the edge, followed by the chunks of a streamed body; headers alternate names and values. A tuple, since
 * the platform copies an object's member names too, which takes half as long again.
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

/** Response from the core, of the same form. */
export type ResponseMessage = readonly [
  kind: "response",
  id: number,
  status: number,
  headers: string[],
  body: WholeBody | string,
  streamed: boolean,
];

/** Message about a call's streamed body or client. */
export type StreamMessage =
  /** Sent only against credit. */
  | { readonly kind: "chunk"; readonly id: number; readonly bytes: Uint8Array }
  | { readonly kind: "end"; readonly id: number }
  /** The body is incomplete: its receiver discards it. */
  | { readonly kind: "broken"; readonly id: number }
  /** The reader accepts this many more chunks. */
  | { readonly kind: "credit"; readonly id: number; readonly chunks: number }
  /** The reader wants no more chunks. */
  | { readonly kind: "cancel"; readonly id: number }
  /** From the edge: the client has disconnected. */
  | { readonly kind: "gone"; readonly id: number };

/** Most chunks of one stream in transit or unread. */
export const MOST_CREDIT = 16;

/**
 * Most unrequested chunks of all streams into one worker: 4 MiB. Four times as many are no faster and took 45 MiB
 * more.
 */
export const MOST_AHEAD = 64;

/** Largest chunk. */
export const CHUNK_BYTES = 64 * 1024;

/** Most messages per batch, so that the receiver starts early. */
const BATCH_MESSAGES = 8;

/**
 * One end of a channel between two workers. Batches the messages of one event loop turn, since each post has a price;
 * transfers chunks instead of copying them.
 */
export class ChannelEnd {
  #batch: ChannelMessage[] = [];
  #transfer: ArrayBuffer[] = [];

  constructor(readonly port: MessagePort, receive: (message: ChannelMessage) => void) {
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
    this.port.close();
  }

  #flush(): void {
    if (this.#batch.length === 0) return;
    const batch = this.#batch;
    const transfer = this.#transfer;
    this.#batch = [];
    this.#transfer = [];
    // Without a list, even an empty one, the runtime takes a path of half the cost.
    if (transfer.length === 0) this.port.postMessage(batch);
    else this.port.postMessage(batch, transfer);
  }
}
