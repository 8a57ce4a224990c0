import { askService } from "../../src/command/running/ask_running.ts";
import type { Site } from "../system/running_service.ts";

/** Pause between two requests, in milliseconds: each worker reports its longest lag once a second. */
const LOOK_MS = 500;

/** Monitor of event-loop stalls in the workers of a service. */
export class StallWatch {
  readonly #longestMs = new Map<string, number>();
  readonly #longestOwnMs = new Map<string, number>();
  readonly #timer: ReturnType<typeof setInterval>;

  /** @param site Site of a running service with its control socket in the default place. */
  constructor({ folder }: Pick<Site, "folder">) {
    this.#timer = setInterval(() => {
      // A timeout is not a measurement: the worker reports the stall itself.
      askService([`${folder}/logs/control.sock`], { command: "status" }, 10_000).then(
        (status) => this.#take(status),
        () => {},
      );
    }, LOOK_MS);
  }

  /** Returns the longest stall of a worker so far, in milliseconds. */
  longestMs(worker: "edge" | "core"): number {
    return heardOf(worker, this.#longestMs);
  }

  /** Returns the longest stall so far that the worker's own work caused, in milliseconds. */
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
