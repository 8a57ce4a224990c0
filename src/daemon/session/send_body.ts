import type { Body } from "../../model/http_message.ts";
import { httpError } from "../../model/http_error.ts";
import type { GuardedSocket } from "./guarded_socket.ts";
import type { SessionTimes } from "./session_times.ts";

/**
 * Sends a request body to the daemon, a chunk at a time and no faster than it takes them.
 * @param options.most Bytes that are sent at most. @returns Bytes sent.
 * @throws What the body throws, if the client went away, and the reason of the connection's signal, also while nothing comes;
 * the caller must then treat the upload as failed.
 */
export async function sendBody(
  body: Body,
  data: GuardedSocket,
  { dataIdleMs, clientIdleMs }: SessionTimes,
  { most = Infinity, progress }: { readonly most?: number; readonly progress: (bytes: number) => void },
): Promise<number> {
  let sent = 0;
  const reader = body instanceof Uint8Array ? new Blob([body]).stream().getReader() : body?.getReader();
  try {
    while (reader !== undefined) {
      const chunk = await nextChunk(reader, clientIdleMs, data.signal);
      if (chunk === undefined) break;
      if (sent + chunk.length > most) {
        throw httpError("ERR_UPLOAD_INCOMPLETE", `more than the ${most} bytes came that may`);
      }
      await data.write(chunk, dataIdleMs);
      sent += chunk.length;
      progress(sent);
    }
    await data.finishWriting(dataIdleMs);
    return sent;
  } catch (error) {
    await reader?.cancel(error).catch(() => {});
    throw error;
  } finally {
    reader?.releaseLock();
  }
}

async function nextChunk(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  ms: number,
  signal: AbortSignal,
): Promise<Uint8Array | undefined> {
  signal.throwIfAborted();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let giveUp = () => {};
  const late = new Promise<never>((_, reject) => {
    giveUp = () => reject(signal.reason);
    timer = setTimeout(
      () => reject(httpError("ERR_DAEMON_SESSION_TIMEOUT", "The client does not send its data")),
      ms,
    );
  });
  signal.addEventListener("abort", giveUp);
  try {
    const { value, done } = await Promise.race([reader.read(), late]);
    return done ? undefined : value;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", giveUp);
  }
}
