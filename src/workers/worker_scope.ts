import type { FromWorker } from "./worker_message.ts";

/** Used part of a worker's global scope; Deno's worker library would clash with the main one. */
interface WorkerScope<In> {
  onmessage: ((event: MessageEvent<In>) => void) | null;
  postMessage(message: FromWorker): void;
}

declare const self: WorkerScope<never>;

/** Receives messages of the supervisor; call it once, while the worker's module loads. */
export function hear<In>(receive: (message: In) => void): void {
  self.onmessage = ({ data }: MessageEvent<In>) => receive(data);
}

/** Sends a message to the supervisor. */
export function tell(message: FromWorker): void {
  self.postMessage(message);
}
