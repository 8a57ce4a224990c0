import type { Peer, WholeBody } from "../model/http_message.ts";

/** Message about one call, identified by its id. */
export type ChannelMessage = RequestMessage | ResponseMessage | StreamMessage;

/** Streamed bodies of one call, as one end of the channel sees them. */
export interface Streams {
  incoming?: ByteStreamReceiver;
  outgoing?: ByteStreamSender;
}

/**
 * Request from the edge, followed by the chunks of a streamed body; headers alternate names and values. A tuple, since
 * the platform also copies an object's member names, which takes half as long again.
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

type StreamMessage =
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

const MAX_CREDIT = 16; // most chunks of one stream in transit or unread

/** Most unrequested chunks of all streams into one worker: 4 MiB. Four times as many would not be faster. */
const MAX_PREFETCHED = 64;

/** Largest chunk. */
export const CHUNK_BYTES = 64 * 1024;

/** Most messages per batch, so that the receiver starts early. With 64 clients 8 take a tenth more work, 64 leave one thread idle. */
const BATCH_MESSAGES = 16;

/** One end of a channel. Batches the messages of one event loop turn; transfers chunks instead of copying them. */
export class ChannelEnd {
  #batch: ChannelMessage[] = [];
  #transfer: ArrayBuffer[] = [];

  constructor(readonly port: MessagePort, receive: (message: ChannelMessage) => void) {
    port.onmessage = ({ data }: MessageEvent<ChannelMessage[]>) => {
      for (const message of data) receive(message);
    };
  }

  readonly send = (message: ChannelMessage): void => {
    if ("kind" in message && message.kind === "chunk" && message.bytes.buffer instanceof ArrayBuffer) {
      this.#transfer.push(message.bytes.buffer);
    }
    this.#batch.push(message);
    if (this.#batch.length === 1) setImmediate(() => this.#flush());
    else if (this.#batch.length === BATCH_MESSAGES) this.#flush();
  };

  close(): void {
    this.port.close();
  }

  #flush(): void {
    if (this.#batch.length === 0) return;
    const batch = this.#batch;
    const transfer = this.#transfer;
    this.#batch = [];
    this.#transfer = [];
    // Without a list, even an empty one, the runtime takes a path that costs half as much.
    if (transfer.length === 0) this.port.postMessage(batch);
    else this.port.postMessage(batch, transfer);
  }
}

/** A call number is its slot in the table plus a multiple of this. There are more slots than sockets. */
const SLOTS = 2 ** 20;
const NUMBERS = 2 ** 52; // limit at which the count of uses restarts

/** Call numbers: a small range of slots, reused under new numbers. */
export class CallNumbers {
  readonly #last: number[] = [];
  readonly #free: number[] = [];

  /** @throws {RangeError} If a million are in use. */
  take(): number {
    const slot = this.#free.pop() ?? this.#last.length;
    if (slot === SLOTS) throw new RangeError("too many exchanges at once");
    const number = ((this.#last[slot] ?? slot) + SLOTS) % NUMBERS;
    this.#last[slot] = number;
    return number;
  }

  release(number: number): void {
    this.#free.push(number % SLOTS);
  }

  get inUse(): number {
    return this.#last.length - this.#free.length;
  }
}

/**
 * Calls by number; the number of a finished call finds nothing. Not a `Map`: with entries per request it is rebuilt
 * often, and V8 keeps dead tables in the old generation alive: young collections took five times as long.
 */
export class CallTable<T extends object> {
  readonly #slots: ({ readonly number: number; readonly call: T } | undefined)[] = [];

  set(number: number, call: T): void {
    this.#slots[number % SLOTS] = { number, call };
  }

  get(number: number): T | undefined {
    const found = this.#slots[number % SLOTS];
    return found?.number === number ? found.call : undefined;
  }

  delete(number: number): boolean {
    if (this.get(number) === undefined) return false;
    this.#slots[number % SLOTS] = undefined;
    return true;
  }

  numbers(): number[] {
    return this.#slots.flatMap((found) => found?.number ?? []);
  }
}

/** Passes a message on to the streams of its call. @param brokenOff Creates the error of an incomplete body. */
export function dispatch(
  message: StreamMessage,
  { incoming, outgoing }: Streams,
  brokenOff: () => Error,
): void {
  switch (message.kind) {
    case "chunk":
      return incoming?.chunk(message.bytes);
    case "end":
      return incoming?.end();
    case "broken":
      return incoming?.break(brokenOff());
    case "credit":
      return outgoing?.credit(message.chunks);
    case "cancel":
      return outgoing?.cancel("no longer wanted");
  }
}

type Send = (message: StreamMessage) => void;

/** Sends a stream to another worker within the reader's credit; without credit it does not even read the stream. */
export class ByteStreamSender {
  #credit = 0;
  #waiting: (() => void) | undefined;
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  #cancelled = false;

  /** @param chunks `given`: transferred without a copy; `kept`: the producer may reuse them, as `node:` streams do. */
  constructor(
    readonly id: number,
    stream: ReadableStream<Uint8Array>,
    readonly chunks: "given" | "kept",
    readonly send: Send,
  ) {
    this.#reader = stream.getReader();
  }

  /** Resolves when the stream is sent, broken or canceled. */
  async run(): Promise<void> {
    try {
      while (await this.#allowed()) {
        const { done, value } = await this.#reader.read();
        if (done) break;
        for (let at = 0; at < value.length && await this.#allowed(); at += CHUNK_BYTES) {
          const part = value.subarray(at, at + CHUNK_BYTES);
          // Not `slice`, which does not copy a node:buffer.
          const bytes = this.chunks === "given" && part.length === value.length
            ? value
            : new Uint8Array(part);
          this.#credit--;
          this.send({ kind: "chunk", id: this.id, bytes });
        }
      }
      if (!this.#cancelled) this.send({ kind: "end", id: this.id });
    } catch {
      this.send({ kind: "broken", id: this.id });
    }
  }

  credit(chunks: number): void {
    this.#credit += chunks;
    this.#waiting?.();
  }

  cancel(reason: string): void {
    this.#cancelled = true;
    this.#waiting?.();
    void this.#reader.cancel(reason).catch(() => {}); // no reader is left for an error of the source
  }

  /** Waits for credit. Returns `false` if the reader canceled. */
  async #allowed(): Promise<boolean> {
    while (this.#credit === 0 && !this.#cancelled) {
      await new Promise<void>((resolve) => this.#waiting = resolve);
    }
    return !this.#cancelled;
  }
}

/** Limits the unrequested chunks of all streams into one worker, so that unread streams cannot fill the memory. */
export class PrefetchBudget {
  #left = MAX_PREFETCHED;

  take(): boolean {
    if (this.#left === 0) return false;
    this.#left--;
    return true;
  }

  release(chunks: number): void {
    this.#left += chunks;
  }
}

/**
 * Receives a stream from another worker. An empty read gives credit for one chunk. Each chunk read allows one more
 * unrequested, up to {@link MAX_CREDIT} and within {@link PrefetchBudget}: fast readers get a full pipe, idle ones buffer
 * little. Three counters, in chunks: the sender's `#credit` may still be sent; `#outstanding` were granted and not read
 * yet; `#prefetched` of these may be granted before the next read. Each line: credit granted, then the other two.
 *
 *     read 1, nothing here:  1 more, 1 0     → chunk 1
 *     read 1 gets chunk 1:   1 more, 1 1     → chunk 2, ahead of read 2
 *     read 2 gets chunk 2:   2 more, 2 2     → chunks 3 and 4
 *     read 3 gets chunk 3:   2 more, 3 3     → chunks 5 and 6
 */
export class ByteStreamReceiver {
  readonly stream: ReadableStream<Uint8Array>;
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  #arrived: Uint8Array[] = [];
  #ended = false;
  #wanted: (() => void) | undefined;
  #outstanding = 0; // chunks that are in transit or wait here
  #prefetched = 0; // of these, chunks granted ahead of a read

  constructor(id: number, send: Send, readonly budget: PrefetchBudget) {
    const fillTo = (wanted: number) => {
      const chunks = wanted - this.#outstanding;
      if (chunks <= 0) return;
      this.#outstanding = wanted;
      send({ kind: "credit", id, chunks });
    };
    this.stream = new ReadableStream<Uint8Array>({
      start: (controller) => {
        this.#controller = controller;
      },
      pull: async (controller) => {
        if (this.#arrived.length === 0 && !this.#ended) {
          fillTo(1);
          await new Promise<void>((resolve) => this.#wanted = resolve);
        }
        const bytes = this.#arrived.shift();
        if (bytes !== undefined) {
          controller.enqueue(bytes);
          this.#outstanding--;
          if (this.#controller === undefined || this.#ended) return;
          if (this.#prefetched < MAX_CREDIT && budget.take()) this.#prefetched++;
          fillTo(this.#prefetched);
        } else if (this.#ended) {
          this.#close();
        }
      },
      cancel: () => {
        this.#release();
        send({ kind: "cancel", id });
      },
    }, { highWaterMark: 0 });
  }

  chunk(bytes: Uint8Array): void {
    this.#arrived.push(bytes);
    this.#wanted?.();
  }

  end(): void {
    this.#ended = true;
    this.#wanted?.();
    if (this.#arrived.length === 0) this.#close();
  }

  /** Ends the stream as incomplete. */
  break(error: Error): void {
    this.#controller?.error(error);
    this.#release();
    this.#ended = true;
    this.#wanted?.();
  }

  #close(): void {
    this.#controller?.close();
    this.#release();
  }

  #release(): void {
    if (this.#controller === undefined) return;
    this.#controller = undefined;
    this.#arrived = [];
    this.budget.release(this.#prefetched);
  }
}
