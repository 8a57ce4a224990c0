import type { GuardedSocket } from "./guarded_socket.ts";

/**
 * Bytes of one chunk at most: each has a buffer of its own, so that it can be handed to another thread without a copy. Larger ones
 * cost less processor time, and the engine lets more of them lie about: with 256 KiB the service grew by 80 MB over a
 * long download, with 64 KiB by 30. And so much less waits for a client that reads slowly.
 */
const LARGEST = 64 * 1024;
/** Bytes of one chunk while very many connections bring data. */
const SMALLEST = 16 * 1024;
/**
 * Bytes of one chunk of each connection, above which chunks get smaller. The engine collects after so many chunks,
 * however large: 133 downloads that nobody read, which the system's buffers took 4 MB each of, added 140 MiB with chunks of
 * 64 KiB, and 60 with chunks that shrink from the 33rd on. Twenty archives beside twenty uploads added 61 to 64 MiB with that,
 * and 48 to 53 with chunks that shrink from the ninth on.
 */
const MOST_IN_CHUNKS = 512 * 1024;

/** Readers of this process that have not been closed. */
let open = 0;

/** Bytes of a chunk of each connection, when so many bring data. */
export function chunkBytes(connections: number): number {
  return Math.min(LARGEST, Math.max(SMALLEST, Math.floor(MOST_IN_CHUNKS / connections)));
}

/** What a data connection brings, in chunks that have a memory of their own; the more connections there are, the smaller. */
export class ChunkReader {
  readonly #data: Pick<GuardedSocket, "read" | "close">;
  #closed = false;

  constructor(data: Pick<GuardedSocket, "read" | "close">) {
    this.#data = data;
    open++;
  }

  /**
   * Fills a chunk as far as data is flowing.
   * @param most Bytes.
   * @param ms How long the daemon may be silent.
   * @returns At least one byte, or `undefined` at the end of the data.
   */
  async read(most: number, ms: number): Promise<Uint8Array<ArrayBuffer> | undefined> {
    const buffer = new Uint8Array(Math.min(chunkBytes(open), most));
    let filled = 0;
    while (filled < buffer.length / 4) {
      const count = await this.#data.read(buffer.subarray(filled), ms);
      if (count === null) break;
      filled += count;
    }
    if (filled === 0) return undefined;
    // A small rest gets a buffer of its size: what waits to be sent should not hold a whole chunk for a few bytes.
    return filled < buffer.length / 2 ? buffer.slice(0, filled) : buffer.subarray(0, filled);
  }

  /** Ends the data connection; may be called any number of times. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    open--;
    this.#data.close();
  }
}
