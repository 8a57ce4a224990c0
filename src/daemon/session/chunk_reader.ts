import type { GuardedSocket } from "./guarded_socket.ts";

/** Largest chunk. Uncollected memory in a long download: 80 MB with 256 KiB, 30 with 64 KiB. */
const MAX_CHUNK = 64 * 1024;
const MIN_CHUNK = 16 * 1024; // smallest chunk, used with very many connections
/**
 * Bytes in chunks of all connections, above which chunks shrink: the engine collects by count, not size. 133 unread
 * downloads added 140 MiB with fixed chunks, 60 when shrinking from 33 connections; 40 archives and uploads added 48 to
 * 53 MiB instead of 64 when shrinking from nine.
 */
const MAX_IN_CHUNKS = 512 * 1024;

let open = 0;

/** Returns the chunk size for a number of connections. */
export function chunkBytes(connections: number): number {
  return Math.min(MAX_CHUNK, Math.max(MIN_CHUNK, Math.floor(MAX_IN_CHUNKS / connections)));
}

/** Reads a data connection into transferable chunks, smaller with more connections. */
export class ChunkReader {
  #closed = false;

  constructor(readonly data: Pick<GuardedSocket, "read" | "close">) {
    open++;
  }

  /** Fills a chunk while data flows, within `ms`. @returns At least one byte; `undefined` at the end. */
  async read(most: number, ms: number): Promise<Uint8Array<ArrayBuffer> | undefined> {
    const buffer = new Uint8Array(Math.min(chunkBytes(open), most));
    let filled = 0;
    while (filled < buffer.length / 4) {
      const count = await this.data.read(buffer.subarray(filled), ms);
      if (count === null) break;
      filled += count;
    }
    if (filled === 0) return undefined;
    // Copies a small rest, so that it does not retain a whole chunk.
    return filled < buffer.length / 2 ? buffer.slice(0, filled) : buffer.subarray(0, filled);
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    open--;
    this.data.close();
  }
}
