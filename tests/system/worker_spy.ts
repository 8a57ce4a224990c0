/** The workers of all workers that are started in this process; to be imported before the first. */
import { killWorker } from "./kill_worker.ts";

export interface SpiedWorker {
  readonly name: string;
  /** Lets it die, see {@link killWorker}. */
  kill(): void;
  /** Sends it a message as if it were the supervisor. */
  tell(message: unknown): void;
  /** Resolves when it is over. */
  readonly ended: Promise<void>;
  /** How often it was ended so far. */
  readonly ends: number;
}

/** A worker that is not started by then, in milliseconds, is not started. */
const MAX_WAIT_MS = 15_000;

/** In the order of their start. */
const workers: SpiedWorker[] = [];
const waiting = new Set<() => void>();

globalThis.Worker = class extends Worker {
  readonly #end: () => void;
  #ends = 0;

  constructor(specifier: string | URL, options?: WorkerOptions) {
    super(specifier, options);
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#end = resolve;
    const ends = () => this.#ends;
    workers.push({
      name: options?.name ?? "",
      get ends() {
        return ends();
      },
      kill: () => killWorker(this),
      tell: (message) => this.postMessage(message),
      ended: promise,
    });
    for (const look of [...waiting]) look();
  }

  override terminate(): void {
    super.terminate();
    this.#ends++;
    this.#end();
  }
};

/** How many workers were started so far. */
export function workersSoFar(): number {
  return workers.length;
}

/** The first worker of that name, now or as soon as it is started. @param after Workers not to look at. */
export async function startedWorker(name: string, after = 0): Promise<SpiedWorker> {
  for (;;) {
    const found = workers.slice(after).find((worker) => worker.name === name);
    if (found !== undefined) return found;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const timer = setTimeout(() => reject(new Error(`no room ${name} was started`)), MAX_WAIT_MS);
    waiting.add(resolve);
    await promise.finally(() => {
      clearTimeout(timer);
      waiting.delete(resolve);
    });
  }
}
