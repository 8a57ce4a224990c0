import type { Body } from "../../model/http_message.ts";
import { httpError } from "../../model/http_error.ts";
import type { GuardedSocket } from "./guarded_socket.ts";
import type { SessionTimes } from "./session_times.ts";

/**
 * Sends at most `options.most` bytes of a body with back-pressure. Returns the bytes sent.
 * @throws What the body throws if the client disconnects, or the signal's reason; the upload then failed.
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
