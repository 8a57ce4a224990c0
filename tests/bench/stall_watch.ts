import { askService } from "../../src/command/running/ask_running.ts";
import type { Site } from "../system/running_service.ts";

/** Each worker tells once a second how late it was at most; whoever looks more often than that misses none. */
const LOOK_MS = 500;

/** Looks all the time how long the event loops of a service's workers stand still. */
export class StallWatch {
  readonly #longestMs = new Map<string, number>();
  readonly #longestOwnMs = new Map<string, number>();
  readonly #timer: ReturnType<typeof setInterval>;

  /** @param site Of a running service, with its control socket where it is if nobody says otherwise. */
  constructor({ folder }: Pick<Site, "folder">) {
    this.#timer = setInterval(() => {
      // A status that does not come in time is no measure: the worker will tell of the stall itself.
      askService([`${folder}/logs/control.sock`], { command: "status" }, 10_000).then(
        (status) => this.#take(status),
        () => {},
      );
    }, LOOK_MS);
  }

  /** The longest stall of a worker so far, in milliseconds. */
  longestMs(worker: "edge" | "core"): number {
    return heardOf(worker, this.#longestMs);
  }

  /** The longest one so far that work of the worker itself made, whatever else the machine had to do. */
  longestOwnMs(worker: "edge" | "core"): number {
    return heardOf(worker, this.#longestOwnMs);
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

function keepLongest(longest: Map<string, number>, byWorker: unknown): void {
  for (const [worker, ms] of Object.entries(Object(byWorker))) {
    if (typeof ms === "number") longest.set(worker, Math.max(ms, longest.get(worker) ?? 0));
  }
}

function heardOf(worker: string, longest: ReadonlyMap<string, number>): number {
  const ms = longest.get(worker);
  if (ms === undefined) throw new TypeError(`nothing was heard of the ${worker}`);
  return ms;
}
