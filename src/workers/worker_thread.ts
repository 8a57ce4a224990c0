import process from "node:process";
import { pathToFileURL } from "node:url";
import { CannotStart } from "./worker_lifecycle.ts";
import type { WorkerPermissions } from "./permissions.ts";
import type { FromWorker } from "./worker_message.ts";
import { coalescedInterval, type Stopwatch, stopwatch } from "../model/clock.ts";

/** Limits of the wait for a starting worker: it may take long on a busy machine while it makes progress. */
export interface Patience {
  readonly everyMs: number; // between checks
  readonly idle: number; // checks in a row without progress that end it
  readonly most: number; // checks in all
  readonly cpuMs: () => number; // processor time of this process so far
}

const PATIENCE: Patience = {
  everyMs: 20_000,
  idle: 4,
  most: 15,
  cpuMs: () => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1000;
  },
};

/** Processor time between two checks that proves progress, in milliseconds. */
const PROGRESS_MS = 100;

interface WorkerEvents {
  readonly onMessage: (message: FromWorker) => void;
  readonly died: (reason: string) => void; // called if the worker ends unexpectedly or does not answer pings
  readonly pings?: typeof coalescedInterval; // schedules the pings
  readonly patience?: Patience;
}

type Message<K extends FromWorker["kind"]> = FromWorker & { readonly kind: K };

/** Resolves links in a module's path: a worker of Deno 2.9.6 imports texts only beside it. Call it while the program loads. */
export function workerModule(module: URL): URL {
  return pathToFileURL(Deno.realPathSync(module));
}

/** Worker with a permission list, for the supervisor, which pings it from its readiness to its end. */
export class WorkerThread<In> {
  readonly #worker: Worker;
  readonly #waiting = new Set<(message: FromWorker) => void>();
  #over = false;
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
      for (const take of [...this.#waiting]) take(data);
    };
    this.#worker.onerror = (event) => {
      event.preventDefault();
      this.#fail(event.message);
    };
  }

  post(message: In, transfer: Transferable[] = []): void {
    if (!this.#over) this.#worker.postMessage(message, transfer);
  }

  /** Waits for it while it makes progress. @throws {CannotStart} If it reports a failure, dies or makes no progress. */
  async ready(): Promise<Message<"ready">> {
    this.#worker.postMessage({ kind: "ping" });
    const { everyMs, idle, most, cpuMs } = this.events.patience ?? PATIENCE;
    let used = cpuMs();
    for (let looks = 1, still = 0; !this.#over; looks++) {
      const first = await this.#next(everyMs, ({ kind }) => kind === "ready" || kind === "failed");
      if (first?.kind === "ready") return first;
      if (first?.kind === "failed") throw new CannotStart(first.diagnostics, first.permanent);
      const before = used;
      used = cpuMs();
      still = used - before < PROGRESS_MS ? still + 1 : 0;
      const awaited = this.#loaded ? "reading its files and reaching its database" : "loading the program";
      const seconds = looks * everyMs / 1000;
      if (still === idle || looks === most) {
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
    if (!this.#over) this.#end(`the ${this.name} was ended before it was ready`);
  }

  #end(reason: string): void {
    this.#over = true;
    this.#endPings?.();
    this.#worker.terminate();
    for (const take of [...this.#waiting]) take({ kind: "failed", diagnostics: [reason] });
  }

  #startPings(watchdog: Watchdog): void {
    if (this.#over || this.#endPings !== undefined) return;
    this.#endPings = (this.events.pings ?? coalescedInterval)(PING_MS, () => {
      const state = watchdog.tick();
      if (state === "dead") this.#fail(SILENT);
      else if (state === "silent") this.#worker.postMessage({ kind: "ping" });
    });
  }

  #fail(reason: string): void {
    if (this.#over) return;
    this.#end(reason);
    this.events.died(reason);
  }

  /** Returns the next wanted message; `undefined` after a timeout or its end. */
  #next(withinMs: number, wanted: (message: FromWorker) => boolean): Promise<FromWorker | undefined> {
    if (this.#over) return Promise.resolve(undefined);
    return new Promise((resolve) => {
      const settle = (message: FromWorker | undefined) => {
        clearTimeout(timer);
        this.#waiting.delete(take);
        resolve(message);
      };
      const take = (message: FromWorker) => {
        if (wanted(message)) settle(message);
      };
      const timer = setTimeout(() => settle(undefined), withinMs);
      this.#waiting.add(take);
    });
  }
}

/** Ping interval in milliseconds. */
export const PING_MS = 5000;

/** Intervals in a row without a sign of life that mean death. */
const MOST_UNANSWERED = 4;

const SILENT = `no sign of life for ${MOST_UNANSWERED * PING_MS / 1000} s`;

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
    return isAlive ? "alive" : this.#unanswered < MOST_UNANSWERED ? "silent" : "dead";
  }
}
