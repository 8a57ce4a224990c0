import { refuse } from "../../model/service_error.ts";
import type { GuardedSocket } from "./guarded_socket.ts";
import type { SessionTimes } from "./session_times.ts";

/**
 * Bytes of one chunk: each has a buffer of its own, so that it can be handed to another thread without a copy. Larger ones
 * cost less processor time, and the engine lets more of them lie about: with 256 KiB the service grew by 80 MB over a
 * long download, with 64 KiB by 30. And so much less waits for a client that reads slowly.
 */
const CHUNK = 64 * 1024;

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
  data: GuardedSocket,
  length: number,
  { confirm, done, times }: {
    readonly confirm: () => Promise<void>;
    readonly done: (result: TransferResult, error?: unknown) => void;
    readonly times: SessionTimes;
  },
): ReadableStream<Uint8Array<ArrayBuffer>> {
  let bytes = 0;
  let over = false;
  let clientTimer: ReturnType<typeof setTimeout> | undefined;
  const end = (complete: boolean, error?: unknown) => {
    clearTimeout(clientTimer);
    if (over) return;
    over = true;
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
async function readChunk(data: GuardedSocket, ms: number): Promise<Uint8Array<ArrayBuffer> | undefined> {
  const buffer = new Uint8Array(CHUNK);
  let filled = 0;
  while (filled < CHUNK / 4) {
    const count = await data.read(buffer.subarray(filled), ms);
    if (count === null) break;
    filled += count;
  }
  if (filled === 0) return undefined;
  // A small rest gets a buffer of its size: what waits to be sent should not hold a whole chunk for a few bytes.
  return filled < CHUNK / 4 ? buffer.slice(0, filled) : buffer.subarray(0, filled);
}
