import { pathToFileURL } from "node:url";
import { CannotStart } from "./cannot_start.ts";
import { Heartbeat, PING_MS, SILENT } from "./heartbeat.ts";
import type { RoomPermissions } from "./permissions.ts";
import type { FromRoom } from "./room_message.ts";

/** What a room does without being asked. */
interface RoomEvents {
  /** Says something. */
  readonly said: (message: FromRoom) => void;
  /** Ends without being told to, or gives no sign of life any more. */
  readonly died: (reason: string) => void;
  /** How often it is asked for a sign of life, in milliseconds; default {@link PING_MS}. */
  readonly pingMs?: number;
}

type Message<K extends FromRoom["kind"]> = FromRoom & { readonly kind: K };

/** How long a room may take to start, in milliseconds: systemd gives the whole start 90 s, and a first start compiles. */
const START_MS = 80_000;

/**
 * Where the code of a room is, past symbolic links: a room may read little, and Deno 2.9.6 lets it import a text (as the
 * scripts of pages are) only if the text's path is that of the room's other modules. Called when the program loads: later
 * it may read little itself.
 */
export function roomModule(module: URL): URL {
  return pathToFileURL(Deno.realPathSync(module));
}

/** A worker with a permission list, as the supervisor sees it. Once ready it is asked for signs of life to its end. */
export class Room<In> {
  readonly name: string;
  readonly #worker: Worker;
  readonly #died: RoomEvents["died"];
  readonly #waiting = new Set<(message: FromRoom) => void>();
  #over = false;
  /** Whether it has said anything, so that its program runs. */
  #loaded = false;
  #pings: ReturnType<typeof setInterval> | undefined;

  /** @param module Of the rooms, with the worker's code. */
  constructor(
    module: URL,
    name: string,
    permissions: RoomPermissions,
    { said, died, pingMs = PING_MS }: RoomEvents,
  ) {
    this.name = name;
    this.#died = died;
    this.#worker = new Worker(module, { type: "module", name, deno: { permissions } });
    const heartbeat = new Heartbeat();
    this.#worker.onmessage = ({ data }: MessageEvent<FromRoom>) => {
      heartbeat.heard();
      this.#loaded = true;
      if (data.kind === "ready") this.#lookAfter(heartbeat, pingMs);
      said(data);
      for (const take of [...this.#waiting]) take(data);
    };
    this.#worker.onerror = (event) => {
      event.preventDefault();
      this.#lose(event.message);
    };
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
    this.#worker.postMessage({ kind: "ping" });
    const first = await this.#next(
      START_MS,
      (message) => message.kind === "ready" || message.kind === "failed",
    );
    if (first?.kind === "ready") return first;
    if (first?.kind === "failed") throw new CannotStart(first.problems, first.permanent);
    const awaited = this.#loaded ? "reading its files and reaching its database" : "loading the program";
    throw new CannotStart([`the ${this.name} did not start within ${START_MS / 1000} s: still ${awaited}`]);
  }

  /** Waits until it has closed, but not for longer than that. */
  async closed(withinMs: number): Promise<void> {
    await this.#next(withinMs, ({ kind }) => kind === "closed" || kind === "failed");
  }

  /** Ends it; that is no death. */
  end(): void {
    this.#over = true;
    clearInterval(this.#pings);
    this.#worker.terminate();
  }

  #lookAfter(heartbeat: Heartbeat, pingMs: number): void {
    if (this.#over || this.#pings !== undefined) return;
    this.#pings = setInterval(() => {
      if (heartbeat.tick()) this.#lose(SILENT);
      else this.#worker.postMessage({ kind: "ping" });
    }, pingMs);
  }

  #lose(reason: string): void {
    if (this.#over) return;
    this.end();
    for (const take of [...this.#waiting]) take({ kind: "failed", problems: [reason] });
    this.#died(reason);
  }

  /** The next message that is wanted; `undefined` if none comes in time, or none can come any more. */
  #next(withinMs: number, wanted: (message: FromRoom) => boolean): Promise<FromRoom | undefined> {
    if (this.#over) return Promise.resolve(undefined);
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
