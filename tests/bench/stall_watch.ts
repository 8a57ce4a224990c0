import { askService } from "../../src/rooms/control/ask_service.ts";
import type { Site } from "../system/running_service.ts";

/** Each room tells once a second how late it was at most; whoever looks more often than that misses none. */
const LOOK_MS = 500;

/** Looks all the time how long the event loops of a service's rooms stand still. */
export class StallWatch {
  readonly #longestMs = new Map<string, number>();
  readonly #longestOwnMs = new Map<string, number>();
  readonly #timer: ReturnType<typeof setInterval>;

  /** @param site Of a running service, with its control socket where it is if nobody says otherwise. */
  constructor({ folder }: Pick<Site, "folder">) {
    this.#timer = setInterval(() => {
      // A status that does not come in time is no measure: the room will tell of the stall itself.
      askService([`${folder}/logs/control.sock`], { command: "status" }, 10_000).then(
        (status) => this.#take(status),
        () => {},
      );
    }, LOOK_MS);
  }

  /** The longest stall of a room so far, in milliseconds. */
  longestMs(room: "edge" | "core"): number {
    return heardOf(room, this.#longestMs);
  }

  /** The longest one so far that work of the room itself made, whatever else the machine had to do. */
  longestOwnMs(room: "edge" | "core"): number {
    return heardOf(room, this.#longestOwnMs);
  }

  close(): void {
    clearInterval(this.#timer);
  }

  #take(status: unknown): void {
    if (typeof status !== "object" || status === null) return;
    if (!("eventLoopLagMs" in status && "eventLoopOwnLagMs" in status)) return;
    keepLongest(this.#longestMs, status.eventLoopLagMs);
    keepLongest(this.#longestOwnMs, status.eventLoopOwnLagMs);
  }
}

function keepLongest(longest: Map<string, number>, byRoom: unknown): void {
  for (const [room, ms] of Object.entries(Object(byRoom))) {
    if (typeof ms === "number") longest.set(room, Math.max(ms, longest.get(room) ?? 0));
  }
}

function heardOf(room: string, longest: ReadonlyMap<string, number>): number {
  const ms = longest.get(room);
  if (ms === undefined) throw new TypeError(`nothing was heard of the ${room}`);
  return ms;
}
