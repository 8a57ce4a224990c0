/** Spy on all workers that this process starts; import it before the first one. */
import { killWorker } from "./kill_worker.ts";

export interface SpiedWorker {
  readonly name: string;
  /** Makes the worker die, see {@link killWorker}. */
  kill(): void;
  /** Sends the worker a message as if from the supervisor. */
  tell(message: Told): void;
  /** Holds back messages to the worker from now on. */
  hold(): HeldMessages;
  /** Resolves when the worker was terminated. */
  readonly ended: Promise<void>;
  /** Number of calls that terminated the worker so far. */
  readonly ends: number;
}

/** Messages to a worker that the spy holds back. */
export interface HeldMessages {
  /** Kinds of the messages, in their order. */
  readonly kinds: readonly unknown[];
  readonly messages: readonly Told[];
  /** Sends the messages, and holds back no more. */
  release(): void;
}

/** Longest wait for the start of a worker, in milliseconds. */
const MAX_WAIT_MS = 60_000;

/** Message of the supervisor. */
interface Told {
  readonly kind?: unknown;
  readonly [field: string]: unknown;
}

interface Held {
  readonly message: Told;
  readonly options: StructuredSerializeOptions | undefined;
}

/** Workers in the order of their start. */
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
          get messages() {
            return held.map(({ message }) => message);
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

/** Returns the worker of that name that was started last. @param after Number of workers to skip. */
export function latestWorker(name: string, after: number): SpiedWorker | undefined {
  return workers.slice(after).findLast((worker) => worker.name === name);
}

/** Returns the number of workers started so far. */
export function workersSoFar(): number {
  return workers.length;
}

/**
 * Waits for the first worker of that name, or with a name that matches, and returns it.
 * @param after Number of workers to skip.
 */
export async function startedWorker(name: string | RegExp, after = 0): Promise<SpiedWorker> {
  const isMeant = typeof name === "string" ? (one: string) => one === name : (one: string) => name.test(one);
  for (;;) {
    const found = workers.slice(after).find((worker) => isMeant(worker.name));
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
