import { CHUNK_BYTES, MOST_AHEAD, MOST_CREDIT, type StreamMessage } from "./wire.ts";

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
          // Not `slice`, which copies nothing of a node:buffer.
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
    void this.#reader.cancel(reason).catch(() => {}); // a source that fails while it is given up has nobody to tell
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
export class Ahead {
  #left = MOST_AHEAD;

  /** Returns whether there is room for another chunk. */
  take(): boolean {
    if (this.#left === 0) return false;
    this.#left--;
    return true;
  }

  giveBack(chunks: number): void {
    this.#left += chunks;
  }
}

/**
 * Receives a stream from another worker. An empty read gives credit for one chunk. Each chunk read allows one more
 * unrequested, up to {@link MOST_CREDIT} and within {@link Ahead}: fast readers get a full pipe, idle ones buffer little.
 */
export class ByteStreamReceiver {
  readonly stream: ReadableStream<Uint8Array>;
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  #arrived: Uint8Array[] = [];
  #ended = false;
  #wanted: (() => void) | undefined;
  #underWay = 0; // chunks that are on the way or wait here
  #unasked = 0; // of these, how many may be there unasked

  constructor(id: number, send: Send, readonly ahead: Ahead) {
    const fillTo = (wanted: number) => {
      const chunks = wanted - this.#underWay;
      if (chunks <= 0) return;
      this.#underWay = wanted;
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
          this.#underWay--;
          if (this.#controller === undefined || this.#ended) return;
          if (this.#unasked < MOST_CREDIT && ahead.take()) this.#unasked++;
          fillTo(this.#unasked);
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
    this.ahead.giveBack(this.#unasked);
  }
}
