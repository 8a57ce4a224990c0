import type { RoomPermissions } from "./permissions.ts";
import type { FromRoom } from "./room_message.ts";

/** What happened to a room. */
export interface RoomEvents {
  /** Everything it says, `ready` and `failed` included. */
  readonly said: (message: FromRoom) => void;
  /** It ended without being told to. */
  readonly died: (reason: string) => void;
}

/** A worker with a permission list, as the supervisor sees it. */
export class Room<In> {
  readonly #worker: Worker;
  #over = false;

  constructor(module: URL, name: string, permissions: RoomPermissions, { said, died }: RoomEvents) {
    this.#worker = new Worker(module, { type: "module", name, deno: { permissions } });
    this.#worker.onmessage = ({ data }: MessageEvent<FromRoom>) => said(data);
    this.#worker.onerror = (event) => {
      event.preventDefault();
      if (this.#over) return;
      this.end();
      died(event.message);
    };
  }

  tell(message: In, transfer: Transferable[] = []): void {
    if (!this.#over) this.#worker.postMessage(message, transfer);
  }

  end(): void {
    this.#over = true;
    this.#worker.terminate();
  }
}
