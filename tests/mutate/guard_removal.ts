import { EVENT, type GuardEvent, type GuardTask, type UnharmedRun } from "./guard_process.ts";
import type { TreeCopy } from "./tree_copy.ts";

const PROGRAM = "tests/mutate/guard_process.ts";
/** How long loading the tests may take, and how much more than a test may take its process gets, in milliseconds. */
const WAIT = { loadMs: 180_000, moreMs: 15_000, patienceMs: 5_000 };

/** What was found about a guard. */
export interface RemovedGuard {
  /** A test that fails without it. */
  readonly noticedBy: string | undefined;
  /** How many tests make its condition true. */
  readonly reachedBy: number;
  /** Whether a test did not end in time without it; this notices nothing. */
  readonly late: boolean;
}

/** Removes guards in processes of a copy whose source has switches (`withSwitches()`). */
export class GuardRemoval {
  readonly #runs = new Map<string, UnharmedRun>();
  readonly #late: (readonly [guard: string, test: string])[] = [];
  readonly #found = new Map<string, string | undefined>();
  #again = 0;

  /** @param waits.moreMs How long a process may be silent beyond what it allows a test: it may never end. */
  constructor(
    readonly tests: readonly string[],
    readonly guards: readonly string[],
    readonly waits: Omit<typeof WAIT, "loadMs"> = WAIT,
  ) {}

  /** Removes each guard; starts a new process after each that was ended by a guard's removal. */
  async run(tree: TreeCopy): Promise<ReadonlyMap<string, RemovedGuard>> {
    let pending = [...this.guards];
    while (pending.length > 0) {
      const before = this.#progress();
      const first = await this.#runProcess(tree, pending);
      if (this.#progress() === before) throw new Error(`nothing comes of ${this.tests[0]} and ${pending[0]}`);
      pending = pending.filter((guard) => !this.#found.has(guard));
      if (first !== undefined) pending = [first, ...pending.filter((guard) => guard !== first)];
    }
    return new Map(this.guards.map((guard) => [guard, {
      noticedBy: this.#found.get(guard),
      reachedBy: [...this.#runs.values()].filter(({ reached }) => reached.includes(guard)).length,
      late: this.#late.some(([late]) => late === guard),
    }]));
  }

  /** Tests that fail although nothing is removed: they are not asked. */
  get failing(): readonly string[] {
    return [...this.#runs.values()].filter(({ passed }) => !passed).map(({ test }) => test);
  }

  #progress(): string {
    return [this.#runs.size, this.#late.length, this.#found.size, this.#again].join();
  }

  /** @returns A guard to remove first in the next process: something that was removed before it may be why a test failed. */
  async #runProcess(tree: TreeCopy, guards: readonly string[]): Promise<string | undefined> {
    const { patienceMs, moreMs } = this.waits;
    const runs = [...this.#runs.values()];
    const task: GuardTask = { tests: this.tests, guards, runs, late: this.#late, patienceMs };
    let trying: Extract<GuardEvent, { kind: "trying" }> | undefined;
    let again: string | undefined;
    const errors = await tree.converse(PROGRAM, JSON.stringify(task), WAIT.loadMs, (line) => {
      if (!line.startsWith(EVENT)) return undefined;
      const event: GuardEvent = JSON.parse(line.slice(EVENT.length));
      trying = event.kind === "trying" ? event : undefined;
      if (event.kind === "trying") return event.limitMs + moreMs;
      if (event.kind === "unharmed") this.#runs.set(event.run.test, event.run);
      else if (event.kind === "unnoticed") this.#found.set(event.guard, undefined);
      else if (event.kind === "late") this.#late.push([event.guard, event.test]);
      else if (event.kind === "noticed") {
        if (event.clean || event.first) this.#found.set(event.guard, event.by);
        else again = event.guard;
      }
      return event.kind === "done" ? 0 : WAIT.loadMs;
    });
    for (const [line] of errors.matchAll(/^cannot load .*$/gm)) console.error(line);
    if (again !== undefined) this.#again += 1;
    if (trying === undefined) return again;
    const { guard, test } = trying;
    if (guard === "") this.#runs.set(test, { test, passed: false, ms: 0, reached: [] });
    else this.#late.push([guard, test]);
    return again;
  }
}
