/** The workers of all rooms that are started in this process; to be imported before the first. */

export interface SpiedRoom {
  readonly name: string;
  /** Has it meet a defect: a message that it cannot read throws where nobody catches. */
  kill(): void;
  /** Sends it a message as if it were the supervisor. */
  tell(message: unknown): void;
  /** Resolves when it is over. */
  readonly ended: Promise<void>;
  /** How often it was ended so far. */
  readonly ends: number;
}

/** A room that is not started by then, in milliseconds, is not started. */
const PATIENCE_MS = 15_000;

/** In the order of their start. */
const rooms: SpiedRoom[] = [];
const waiting = new Set<() => void>();

globalThis.Worker = class extends Worker {
  readonly #end: () => void;
  #ends = 0;

  constructor(specifier: string | URL, options?: WorkerOptions) {
    super(specifier, options);
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#end = resolve;
    const ends = () => this.#ends;
    rooms.push({
      name: options?.name ?? "",
      get ends() {
        return ends();
      },
      kill: () => this.postMessage(null),
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

/** How many rooms were started so far. */
export function roomsSoFar(): number {
  return rooms.length;
}

/** The first room of that name, now or as soon as it is started. @param after Rooms not to look at. */
export async function startedRoom(name: string, after = 0): Promise<SpiedRoom> {
  for (;;) {
    const found = rooms.slice(after).find((room) => room.name === name);
    if (found !== undefined) return found;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const timer = setTimeout(() => reject(new Error(`no room ${name} was started`)), PATIENCE_MS);
    waiting.add(resolve);
    await promise.finally(() => {
      clearTimeout(timer);
      waiting.delete(resolve);
    });
  }
}
