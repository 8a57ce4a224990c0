import { CHUNK_BYTES, MOST_AHEAD, MOST_CREDIT, type StreamMessage } from "./wire.ts";

type Send = (message: StreamMessage) => void;

/**
 * Sends a stream to the other worker, never more than the reader there has given credit for. Until it has given any, the
 * stream is not even read: that is how a client is not asked for a body that nobody wants.
 */
export class ByteStreamSender {
  #credit = 0;
  #waiting: (() => void) | undefined;
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  #cancelled = false;

  /**
   * @param chunks `given`: their memory is nobody else's, so that they cross without being copied; `kept`: their producer
   * may use it again, as `node:` streams do.
   */
  constructor(
    readonly id: number,
    stream: ReadableStream<Uint8Array>,
    readonly chunks: "given" | "kept",
    readonly send: Send,
  ) {
    this.#reader = stream.getReader();
  }

  /** Resolves when the stream is sent, broken or no longer wanted. */
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

  /** The other side wants no more. */
  cancel(reason: string): void {
    this.#cancelled = true;
    this.#waiting?.();
    void this.#reader.cancel(reason).catch(() => {}); // a source that fails while it is given up has nobody to tell
  }

  /** Waits for credit. @returns `false` if the stream is no longer wanted. */
  async #allowed(): Promise<boolean> {
    while (this.#credit === 0 && !this.#cancelled) {
      await new Promise<void>((resolve) => this.#waiting = resolve);
    }
    return !this.#cancelled;
  }
}

/**
 * Chunks that all streams into one worker may have under way without being asked for: many that are not read any more must
 * not fill the memory.
 */
export class Ahead {
  #left = MOST_AHEAD;

  /** @returns Whether there is room for one chunk more. */
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
 * Receives a stream from the other worker. A read that finds nothing gives credit for one chunk. Each chunk that is read lets
 * one more be under way unasked, as long as all streams together leave room for it, up to {@link MOST_CREDIT}: a reader
 * that takes what comes soon has a full pipe, and one that takes nothing has nothing here but what it is busy with.
 */
export class ByteStreamReceiver {
  readonly stream: ReadableStream<Uint8Array>;
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  #arrived: Uint8Array[] = [];
  #ended = false;
  #wanted: (() => void) | undefined;
  /** Chunks that are on the way or wait here. */
  #underWay = 0;
  /** Of these, how many may be there unasked. */
  #unasked = 0;
  readonly #ahead: Ahead;

  constructor(id: number, send: Send, ahead: Ahead) {
    this.#ahead = ahead;
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

  /** What came so far is all there will be, and it is not all there is. */
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

  /** Nothing more will be read. */
  #release(): void {
    if (this.#controller === undefined) return;
    this.#controller = undefined;
    this.#arrived = [];
    this.#ahead.giveBack(this.#unasked);
  }
}
