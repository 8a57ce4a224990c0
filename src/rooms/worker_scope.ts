import type { FromRoom } from "./room_message.ts";

/** The part of a dedicated worker's global scope that rooms use; its own library would clash with the main thread's. */
interface WorkerScope<In> {
  onmessage: ((event: MessageEvent<In>) => void) | null;
  postMessage(message: FromRoom): void;
}

declare const self: WorkerScope<never>;

/** What a room hears from the supervisor; called once, while the room's module is loaded. */
export function hear<In>(receive: (message: In) => void): void {
  self.onmessage = ({ data }: MessageEvent<In>) => receive(data);
}

/** Tells the supervisor. */
export function tell(message: FromRoom): void {
  self.postMessage(message);
}
