import { refuse } from "../../model/service_error.ts";
import type { GuardedSocket } from "./guarded_socket.ts";
import type { SessionTimes } from "./session_times.ts";

/**
 * Bytes of one chunk at most: each has a buffer of its own, so that it can be handed to another thread without a copy. Larger ones
 * cost less processor time, and the engine lets more of them lie about: with 256 KiB the service grew by 80 MB over a
 * long download, with 64 KiB by 30. And so much less waits for a client that reads slowly.
 */
const LARGEST = 64 * 1024;
/** Bytes of one chunk while very many downloads are open. */
const SMALLEST = 16 * 1024;
/**
 * Bytes of one chunk of each open download, above which chunks get smaller. The engine collects after so many chunks,
 * however large: 133 downloads that nobody read, which the system's buffers took 4 MB each of, added 140 MiB with chunks of
 * 64 KiB, and 60 with chunks that shrink from the 33rd download on.
 */
const MOST_IN_CHUNKS = 2 * 1024 * 1024;

/** Downloads of this process that have not ended. */
let open = 0;

/** Bytes of a chunk of each download, when so many are open. */
export function chunkBytes(downloads: number): number {
  return Math.min(LARGEST, Math.max(SMALLEST, Math.floor(MOST_IN_CHUNKS / downloads)));
}

/** What became of a transfer. */
export interface TransferResult {
  readonly bytes: number;
  readonly complete: boolean;
}

/**
 * The data of a download as a stream. It ends cleanly only if exactly `length` bytes came and the daemon confirmed
 * them; everything else is an error, so that a file cut short never looks whole. Reads when it is asked for the next chunk: whoever sends it on
 * knows how much may be under way.
 * @param confirm Waits for the daemon's confirmation after the last byte.
 * @param done Called once, whatever happens; releases the session.
 */
export function downloadStream(
  data: Pick<GuardedSocket, "read" | "close">,
  length: number,
  { confirm, done, times }: {
    readonly confirm: () => Promise<void>;
    readonly done: (result: TransferResult, error?: unknown) => void;
    readonly times: SessionTimes;
  },
): ReadableStream<Uint8Array<ArrayBuffer>> {
  let bytes = 0;
  let over = false;
  open++;
  let clientTimer: ReturnType<typeof setTimeout> | undefined;
  const end = (complete: boolean, error?: unknown) => {
    clearTimeout(clientTimer);
    if (over) return;
    over = true;
    open--;
    data.close();
    done({ bytes, complete }, error);
  };
  const awaitClient = (controller: ReadableStreamDefaultController) => {
    clientTimer = setTimeout(() => {
      const error = refuse("ERR_DAEMON_SESSION_TIMEOUT", "The client does not take the data");
      controller.error(error);
      end(false, error);
    }, times.clientIdleMs);
  };
  return new ReadableStream<Uint8Array<ArrayBuffer>>({
    start: awaitClient,
    async pull(controller) {
      clearTimeout(clientTimer);
      try {
        const chunk = await readChunk(data, times.dataIdleMs);
        if (chunk !== undefined) {
          bytes += chunk.length;
          if (bytes > length) {
            throw refuse("ERR_DAEMON_SESSION", `Daemon sent more than the ${length} bytes asked for`);
          }
          controller.enqueue(chunk);
          awaitClient(controller);
          return;
        }
        if (bytes < length) throw refuse("ERR_DAEMON_SESSION", `Daemon sent ${bytes} of ${length} bytes`);
        await confirm();
        controller.close();
        end(true);
      } catch (error) {
        if (!over) controller.error(error);
        end(false, error);
      }
    },
    cancel(reason) {
      end(false, reason);
    },
  }, { highWaterMark: 0 });
}

/** Fills a chunk as far as data is flowing; undefined at the end. */
async function readChunk(
  data: Pick<GuardedSocket, "read">,
  ms: number,
): Promise<Uint8Array<ArrayBuffer> | undefined> {
  const buffer = new Uint8Array(chunkBytes(open));
  const enough = buffer.length / 4;
  let filled = 0;
  while (filled < enough) {
    const count = await data.read(buffer.subarray(filled), ms);
    if (count === null) break;
    filled += count;
  }
  if (filled === 0) return undefined;
  // A small rest gets a buffer of its size: what waits to be sent should not hold a whole chunk for a few bytes.
  return filled < enough ? buffer.slice(0, filled) : buffer.subarray(0, filled);
}
