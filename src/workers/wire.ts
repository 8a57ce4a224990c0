import { type ChannelMessage, pack, type PackedMessage, unpack } from "./channel_message.ts";

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
  #batch: PackedMessage[] = [];
  #transfer: ArrayBuffer[] = [];

  constructor(port: MessagePort, receive: (message: ChannelMessage) => void) {
    this.#port = port;
    port.onmessage = ({ data }: MessageEvent<PackedMessage[]>) => {
      for (const packed of data) receive(unpack(packed));
    };
  }

  send(message: ChannelMessage): void {
    if (message.kind === "chunk" && message.bytes.buffer instanceof ArrayBuffer) {
      this.#transfer.push(message.bytes.buffer);
    }
    this.#batch.push(pack(message));
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
