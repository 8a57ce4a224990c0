import { httpError } from "../../model/http_error.ts";
import type { ChunkReader } from "./chunk_reader.ts";
import type { SessionTimes } from "./session_times.ts";

export interface TransferResult {
  readonly bytes: number;
  readonly complete: boolean;
}

/**
 * Streams a download with back-pressure. Waits for the first bytes: until then the HTTP response can be an error. Ends
 * cleanly only after exactly `length` bytes and the daemon's confirmation, so that a truncated file is an error.
 * @param confirm Waits for the confirmation.
 * @param done Called once, to release the session, unless this function throws.
 */
export async function downloadStream(
  chunks: ChunkReader,
  length: number,
  { confirm, done, times }: {
    readonly confirm: () => Promise<void>;
    readonly done: (result: TransferResult, error?: unknown) => void;
    readonly times: SessionTimes;
  },
): Promise<ReadableStream<Uint8Array<ArrayBuffer>>> {
  let first = await chunks.read(Infinity, times.dataIdleMs);
  if (first === undefined) throw httpError("ERR_DAEMON_SESSION", "Daemon sent no data");
  let bytes = 0;
  let over = false;
  let clientTimer: ReturnType<typeof setTimeout> | undefined;
  const end = (complete: boolean, error?: unknown) => {
    clearTimeout(clientTimer);
    if (over) return;
    over = true;
    chunks.close();
    done({ bytes, complete }, error);
  };
  const awaitClient = (controller: ReadableStreamDefaultController) => {
    clientTimer = setTimeout(() => {
      const error = httpError("ERR_DAEMON_SESSION_TIMEOUT", "The client does not take the data");
      controller.error(error);
      end(false, error);
    }, times.clientIdleMs);
  };
  return new ReadableStream<Uint8Array<ArrayBuffer>>({
    start: awaitClient,
    async pull(controller) {
      clearTimeout(clientTimer);
      try {
        const chunk = first ?? await chunks.read(Infinity, times.dataIdleMs);
        first = undefined;
        if (chunk !== undefined) {
          bytes += chunk.length;
          if (bytes > length) {
            throw httpError("ERR_DAEMON_SESSION", `Daemon sent more than the ${length} bytes asked for`);
          }
          controller.enqueue(chunk);
          awaitClient(controller);
          return;
        }
        if (bytes < length) throw httpError("ERR_DAEMON_SESSION", `Daemon sent ${bytes} of ${length} bytes`);
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
