import type { FromWorker } from "./worker_message.ts";

/** The part of a dedicated worker's global scope that workers use; its own library would clash with the main thread's. */
interface WorkerScope<In> {
  onmessage: ((event: MessageEvent<In>) => void) | null;
  postMessage(message: FromWorker): void;
}

declare const self: WorkerScope<never>;

/** What a worker hears from the supervisor; called once, while the worker's module is loaded. */
export function hear<In>(receive: (message: In) => void): void {
  self.onmessage = ({ data }: MessageEvent<In>) => receive(data);
}

/** Tells the supervisor. */
export function tell(message: FromWorker): void {
  self.postMessage(message);
}
