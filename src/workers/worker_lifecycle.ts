import type { Fields } from "../logging/logger.ts";
import type { Snapshot } from "../service/assembly/load_snapshot.ts";
import type { Resolve } from "./permissions.ts";
import type { WorkerReports } from "./worker_reports.ts";

/** Dependencies of the classes that run the edge and the core. */
export interface WorkerParts {
  readonly snapshot: () => Snapshot; // in use, also by replacements of dead workers
  readonly resolve: Resolve;
  readonly reports: WorkerReports;
  readonly changes: WorkerLifecycle;
}

/** Serialises changes of workers: each begins after the previous one has ended. */
export class WorkerLifecycle {
  #last: Promise<unknown> = Promise.resolve();
  shutdownAnnounced = false; // whether replaced workers announce the shutdown, too
  stopping = false;

  /** Runs a change in turn. @throws {CannotStart} If the service is shutting down by then. */
  inTurn<T>(change: () => Promise<T> | T): Promise<T> {
    const done = this.#last.then(() => {
      this.throwIfStopping();
      return change();
    });
    this.#last = done.catch(() => {}); // the caller gets the error
    return done;
  }

  throwIfStopping(): void {
    if (this.stopping) throw new CannotStart(["the service is shutting down"]);
  }
}

/** Error of a start or reload; the diagnostics are for the operator. */
export class CannotStart extends Error {
  /** @param permanent Whether another attempt with the same configuration fails, too. */
  constructor(readonly diagnostics: readonly string[], readonly permanent = false) {
    super(diagnostics.join("\n"));
  }
}

const MAX_PAUSE_MS = 30_000;
const MIN_PAUSE_MS = 1000;
const LONG_LIFE_MS = 60_000; // lifetime in milliseconds after which a death is unrelated to the start

interface RestartPolicyParts {
  readonly what: "edge" | "core"; // the kind of worker, for log and metrics
  readonly start: () => Promise<void>; // starts a replacement, unless there already is one
  readonly changes: WorkerLifecycle;
  readonly reports: Pick<WorkerReports, "log"> & {
    readonly counters: Pick<WorkerReports["counters"], "count">;
  };
  readonly pause?: (ms: number) => Promise<void>; // waits for so many milliseconds
}

/** Replaces dead workers of one kind, with growing pauses, since the cause of death may persist. */
export class RestartPolicy<T extends object> {
  readonly #parts: Required<RestartPolicyParts>;
  #current: T | undefined;
  #takenAt = 0; // by a monotonic clock
  #pauseMs = 0;
  #trying = false;
  #closed = false;

  constructor(parts: RestartPolicyParts) {
    this.#parts = { pause: (ms) => new Promise((resolve) => setTimeout(resolve, ms)), ...parts };
  }

  get current(): T | undefined {
    return this.#current;
  }

  put(next: T): T | undefined {
    const before = this.#current;
    this.#current = next;
    this.#takenAt = performance.now();
    return before;
  }

  lost(dead: T, particulars: Fields): void {
    if (this.#current !== dead || this.#closed) return;
    this.#current = undefined;
    if (performance.now() - this.#takenAt > LONG_LIFE_MS) this.#pauseMs = 0;
    this.#parts.reports.log.error(`${this.#parts.what} died, starting another`, particulars);
    void this.#replace();
  }

  close(): void {
    this.#closed = true;
  }

  async #replace(): Promise<void> {
    if (this.#trying) return;
    this.#trying = true;
    const { what, start, changes, reports: { log, counters }, pause } = this.#parts;
    while (!this.#closed && this.#current === undefined) {
      const pauseMs = this.#pauseMs;
      this.#pauseMs = Math.min(MAX_PAUSE_MS, Math.max(MIN_PAUSE_MS, pauseMs * 2));
      await pause(pauseMs);
      if (this.#closed) break;
      try {
        await changes.inTurn(async () => this.#current === undefined ? await start() : undefined);
      } catch (error) {
        log.error("worker could not be replaced, trying again", { what, error });
        continue;
      }
      if (this.#current === undefined) continue; // died already
      log.warn("worker replaced", { what });
      counters.count("authserver_worker_restarts_total", { worker: what });
    }
    this.#trying = false;
  }
}
