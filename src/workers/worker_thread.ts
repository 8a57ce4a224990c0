import process from "node:process";
import { pathToFileURL } from "node:url";
import { CannotStart } from "./worker_lifecycle.ts";
import type { WorkerPermissions } from "./permissions.ts";
import type { FromWorker } from "./worker_message.ts";
import { coalescedInterval, type Stopwatch, stopwatch } from "../model/clock.ts";

/** Limits of the wait for a starting worker: it may take long on a busy machine while it makes progress. */
export interface StartLimits {
  readonly everyMs: number; // between checks
  readonly maxIdle: number; // checks in a row without progress that end it
  readonly maxChecks: number; // checks in all
  readonly cpuMs: () => number; // processor time of this process so far
}

const START_LIMITS: StartLimits = {
  everyMs: 20_000,
  maxIdle: 4,
  maxChecks: 15,
  cpuMs: () => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1000;
  },
};

const PROGRESS_MS = 100; // processor time between two checks that proves progress, in milliseconds

interface WorkerEvents {
  readonly onMessage: (message: FromWorker) => void;
  readonly died: (reason: string) => void; // called if the worker ends unexpectedly or does not answer pings
  readonly pings?: typeof coalescedInterval; // schedules the pings
  readonly startLimits?: StartLimits;
}

/** Resolves links in a module's path: a worker of Deno 2.9.6 imports texts only beside it. Call it while the program loads. */
export function workerModule(module: URL): URL {
  return pathToFileURL(Deno.realPathSync(module));
}

/** Worker with a permission list, for the supervisor, which pings it from its readiness to its end. */
export class WorkerThread<In> {
  readonly #worker: Worker;
  readonly #listeners = new Set<(message: FromWorker) => void>();
  #ended = false;
  #loaded = false;
  #endPings: (() => void) | undefined;

  constructor(
    module: URL,
    readonly name: string,
    permissions: WorkerPermissions,
    readonly events: WorkerEvents,
  ) {
    this.#worker = new Worker(module, { type: "module", name, deno: { permissions } });
    const watchdog = new Watchdog();
    this.#worker.onmessage = ({ data }: MessageEvent<FromWorker>) => {
      watchdog.reset();
      this.#loaded = true;
      if (data.kind === "ready") this.#startPings(watchdog);
      events.onMessage(data);
      for (const take of [...this.#listeners]) take(data);
    };
    this.#worker.onerror = (event) => {
      event.preventDefault();
      this.#fail(event.message);
    };
  }

  post(message: In, transfer: Transferable[] = []): void {
    if (!this.#ended) this.#worker.postMessage(message, transfer);
  }

  /** Waits for it while it makes progress. @throws {CannotStart} If it reports a failure, dies or makes no progress. */
  async ready(): Promise<FromWorker & { readonly kind: "ready" }> {
    this.#worker.postMessage({ kind: "ping" });
    const { everyMs, maxIdle, maxChecks, cpuMs } = this.events.startLimits ?? START_LIMITS;
    let used = cpuMs();
    for (let checks = 1, idle = 0; !this.#ended; checks++) {
      const first = await this.#next(everyMs, ({ kind }) => kind === "ready" || kind === "failed");
      if (first?.kind === "ready") return first;
      if (first?.kind === "failed") throw new CannotStart(first.diagnostics, first.permanent);
      const before = used;
      used = cpuMs();
      idle = used - before < PROGRESS_MS ? idle + 1 : 0;
      const awaited = this.#loaded ? "reading its files and reaching its database" : "loading the program";
      const seconds = checks * everyMs / 1000;
      if (idle === maxIdle || checks === maxChecks) {
        const hint = "see top, df and the log of the database for what keeps it";
        throw new CannotStart([
          `the ${this.name} did not start within ${seconds} s: still ${awaited}; ${hint}`,
        ]);
      }
      this.events.onMessage({ kind: "starting", fields: { worker: this.name, awaited, seconds } });
    }
    throw new CannotStart([`the ${this.name} was ended before it was ready`]);
  }

  /** Waits for a message of a kind, at most until the worker fails or ends, or the time is over. */
  async waitFor(wanted: FromWorker["kind"], withinMs: number): Promise<void> {
    await this.#next(withinMs, ({ kind }) => kind === wanted || kind === "failed");
  }

  end(): void {
    if (!this.#ended) this.#end(`the ${this.name} was ended before it was ready`);
  }

  #end(reason: string): void {
    this.#ended = true;
    this.#endPings?.();
    this.#worker.terminate();
    for (const take of [...this.#listeners]) take({ kind: "failed", diagnostics: [reason] });
  }

  #startPings(watchdog: Watchdog): void {
    if (this.#ended || this.#endPings !== undefined) return;
    this.#endPings = (this.events.pings ?? coalescedInterval)(PING_MS, () => {
      const state = watchdog.tick();
      if (state === "dead") this.#fail(SILENT);
      else if (state === "silent") this.#worker.postMessage({ kind: "ping" });
    });
  }

  #fail(reason: string): void {
    if (this.#ended) return;
    this.#end(reason);
    this.events.died(reason);
  }

  /** Returns the next wanted message; `undefined` after a timeout or its end. */
  #next(withinMs: number, wanted: (message: FromWorker) => boolean): Promise<FromWorker | undefined> {
    if (this.#ended) return Promise.resolve(undefined);
    return new Promise((resolve) => {
      const settle = (message: FromWorker | undefined) => {
        clearTimeout(timer);
        this.#listeners.delete(take);
        resolve(message);
      };
      const take = (message: FromWorker) => {
        if (wanted(message)) settle(message);
      };
      const timer = setTimeout(() => settle(undefined), withinMs);
      this.#listeners.add(take);
    });
  }
}

/** Ping interval in milliseconds. */
export const PING_MS = 5000;

const MAX_UNANSWERED = 4; // intervals in a row without a sign of life that mean death

const SILENT = `no sign of life for ${MAX_UNANSWERED * PING_MS / 1000} s`;

/** Detects dead workers by their silence, but not after a freeze of process or host. The clock is monotonic. */
export class Watchdog {
  #tickedAt: number;
  #isAlive = true;
  #unanswered = 0;

  constructor(readonly elapsed: Stopwatch = stopwatch) {
    this.#tickedAt = elapsed();
  }

  reset(): void {
    this.#isAlive = true;
  }

  /** Call it every {@link PING_MS}. Returns "silent" if the worker sent nothing since the last call; then ping it. */
  tick(): "alive" | "silent" | "dead" {
    const now = this.elapsed();
    const late = now - this.#tickedAt > 2 * PING_MS;
    this.#tickedAt = now;
    const isAlive = this.#isAlive;
    this.#unanswered = isAlive || late ? 0 : this.#unanswered + 1;
    this.#isAlive = false;
    return isAlive ? "alive" : this.#unanswered < MAX_UNANSWERED ? "silent" : "dead";
  }
}
