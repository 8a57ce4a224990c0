/** The workers of all workers that are started in this process; to be imported before the first. */
import { killWorker } from "./kill_worker.ts";

export interface SpiedWorker {
  readonly name: string;
  /** Lets it die, see {@link killWorker}. */
  kill(): void;
  /** Sends it a message as if it were the supervisor. */
  tell(message: Told): void;
  /** Keeps back messages to it from now on. */
  hold(): HeldMessages;
  /** Resolves when it is over. */
  readonly ended: Promise<void>;
  /** How often it was ended so far. */
  readonly ends: number;
}

/** Messages to a worker that are kept back. */
export interface HeldMessages {
  /** Their kinds, in their order. */
  readonly kinds: readonly unknown[];
  /** Sends them, and keeps back no more. */
  release(): void;
}

/** A worker that is not started by then, in milliseconds, is not started. */
const MAX_WAIT_MS = 60_000;

/** A message of the supervisor. */
interface Told {
  readonly kind?: unknown;
  readonly [field: string]: unknown;
}

interface Held {
  readonly message: Told;
  readonly options: StructuredSerializeOptions | undefined;
}

/** In the order of their start. */
const workers: SpiedWorker[] = [];
const waiting = new Set<() => void>();

globalThis.Worker = class extends Worker {
  readonly #end: () => void;
  #ends = 0;
  #held: Held[] | undefined;

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
      hold: () => {
        const held = this.#held = new Array<Held>();
        return {
          get kinds() {
            return held.map(({ message }) => message.kind);
          },
          release: () => {
            this.#held = undefined;
            for (const { message, options } of held) super.postMessage(message, options);
          },
        };
      },
      ended: promise,
    });
    for (const look of [...waiting]) look();
  }

  override postMessage(message: Told, given?: Transferable[] | StructuredSerializeOptions): void {
    const options = Array.isArray(given) ? { transfer: given } : given;
    if (this.#held === undefined) super.postMessage(message, options);
    else this.#held.push({ message, options });
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
