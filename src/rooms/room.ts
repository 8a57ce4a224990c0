import { CannotStart } from "./cannot_start.ts";
import type { RoomPermissions } from "./permissions.ts";
import type { FromRoom } from "./room_message.ts";

/** What a room does without being asked. */
export interface RoomEvents {
  /** Says something. */
  readonly said: (message: FromRoom) => void;
  /** Ends without being told to. */
  readonly died: (reason: string) => void;
}

type Message<K extends FromRoom["kind"]> = FromRoom & { readonly kind: K };

/** How long a room may take to start, in milliseconds. */
const START_MS = 30_000;

/** A worker with a permission list, as the supervisor sees it. */
export class Room<In> {
  readonly name: string;
  readonly #worker: Worker;
  readonly #waiting = new Set<(message: FromRoom) => void>();
  #over = false;
  #heardAt = Date.now();

  /** @param module Of the rooms, with the worker's code. */
  constructor(module: URL, name: string, permissions: RoomPermissions, { said, died }: RoomEvents) {
    this.name = name;
    this.#worker = new Worker(module, { type: "module", name, deno: { permissions } });
    this.#worker.onmessage = ({ data }: MessageEvent<FromRoom>) => {
      this.#heardAt = Date.now();
      said(data);
      for (const take of [...this.#waiting]) take(data);
    };
    this.#worker.onerror = (event) => {
      event.preventDefault();
      if (this.#over) return;
      this.end();
      for (const take of [...this.#waiting]) take({ kind: "failed", problems: [event.message] });
      died(event.message);
    };
  }

  /** Milliseconds since its last sign of life; whoever wants to know must make it answer now and then. */
  get silentMs(): number {
    return Date.now() - this.#heardAt;
  }

  tell(message: In, transfer: Transferable[] = []): void {
    if (!this.#over) this.#worker.postMessage(message, transfer);
  }

  /**
   * Waits until it is ready.
   * @returns What it said then.
   * @throws {CannotStart} If it says that it cannot start, dies, or takes too long.
   */
  async ready(): Promise<Message<"ready">> {
    const first = await this.#next(
      START_MS,
      (message) => message.kind === "ready" || message.kind === "failed",
    );
    if (first?.kind === "ready") return first;
    throw new CannotStart(
      first?.kind === "failed" ? first.problems : [`the ${this.name} did not start in time`],
    );
  }

  /** Waits until it has closed, but not for longer than that. */
  async closed(withinMs: number): Promise<void> {
    await this.#next(withinMs, ({ kind }) => kind === "closed" || kind === "failed");
  }

  end(): void {
    this.#over = true;
    this.#worker.terminate();
  }

  /** The next message that is wanted; `undefined` if none comes in time. */
  #next(withinMs: number, wanted: (message: FromRoom) => boolean): Promise<FromRoom | undefined> {
    return new Promise((resolve) => {
      const settle = (message: FromRoom | undefined) => {
        clearTimeout(timer);
        this.#waiting.delete(take);
        resolve(message);
      };
      const take = (message: FromRoom) => {
        if (wanted(message)) settle(message);
      };
      const timer = setTimeout(() => settle(undefined), withinMs);
      this.#waiting.add(take);
    });
  }
}
