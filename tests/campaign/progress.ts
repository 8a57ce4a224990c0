/** Time in which this machine makes progress: if this process cannot run, the instances cannot either. */

const TICK_MS = 20;
/** Longest time that a tick adds, in milliseconds. */
const MOST_MS = 3 * TICK_MS;

/** Stopwatch that pauses while its own timer cannot run. */
export class Progress implements Disposable {
  #counted = 0;
  #last = performance.now();
  readonly #timer = setInterval(() => this.#tick(), TICK_MS);

  /** Returns the counted milliseconds. */
  readonly now = (): number => this.#counted;

  #tick(): void {
    const now = performance.now();
    this.#counted += Math.min(now - this.#last, MOST_MS);
    this.#last = now;
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }
}

/** Time that threads have waited for a processor since the start, for which the machine is responsible. */
export class Waits {
  readonly #before: ReadonlyMap<string, number>;

  /** @param processes Processes through which a request passes one after the other. */
  constructor(readonly processes: readonly number[]) {
    this.#before = new Map(processes.flatMap(waitsOf).map(({ thread, ms }) => [thread, ms]));
  }

  /** Wait of the thread that waited longest, in milliseconds. */
  get ms(): number {
    const waits = this.processes.flatMap(waitsOf);
    return Math.max(0, ...waits.map(({ thread, ms }) => ms - (this.#before.get(thread) ?? ms)));
  }
}

function waitsOf(pid: number): readonly { readonly thread: string; readonly ms: number }[] {
  try {
    return [...Deno.readDirSync(`/proc/${pid}/task`)].map(({ name }) => ({
      thread: `${pid} ${name}`,
      ms: (listOf(`/proc/${pid}/task/${name}/schedstat`)[1] ?? 0) / 1e6,
    }));
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return []; // it has ended
    throw error;
  }
}

function listOf(file: string): readonly number[] {
  try {
    return Deno.readTextFileSync(file).trim().split(" ").filter((word) => word !== "").map(Number);
  } catch (error) {
    if (
      error instanceof Deno.errors.NotFound ||
      (error instanceof Error && "code" in error && error.code === "ESRCH")
    ) {
      return [];
    }
    throw error;
  }
}

/** Periods without a failure, measured by one stopwatch. */
export class QuietTimes {
  readonly #times: { readonly from: number; until: number }[] = [];

  constructor(readonly now: () => number) {}

  begin(): void {
    this.#times.push({ from: this.now(), until: Infinity });
  }

  end(): void {
    const last = this.#times.at(-1);
    if (last !== undefined) last.until = this.now();
  }

  /** Reports whether nothing failed from one moment to another. */
  between(from: number, until: number): boolean {
    return this.#times.some((time) => time.from <= from && until <= time.until);
  }
}
