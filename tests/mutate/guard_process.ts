/**
 * The process in which `guards.ts` has guards removed: runs tests of a copy of the tree, first as it is, to learn which tests
 * make the condition of which guard true, then again with one guard removed after the other. Reads its task from the standard
 * input and prints each event as a line of JSON after `EVENT`. Loads everything once, so a guard costs milliseconds.
 */
import { CHANNEL, type GuardMessage } from "./guard_switch.ts";

/** What begins the lines that are not printed by tests. */
export const EVENT = "\u0001guard ";

/** What the process is asked to do. */
export interface GuardTask {
  /** Files of tests, in the order in which they are asked. */
  readonly tests: readonly string[];
  /** Guards to remove, as `src/folder/file.ts#3`. */
  readonly guards: readonly string[];
  /** What an earlier process learned. */
  readonly runs: readonly UnharmedRun[];
  /** Guard and test of pairs that do not end in time. */
  readonly late: readonly (readonly [guard: string, test: string])[];
  /** How long a test may take at least, in milliseconds. */
  readonly patienceMs: number;
}

/** How a test runs with all guards in place. */
export interface UnharmedRun {
  /** File and number of the test in it. */
  readonly test: string;
  readonly passed: boolean;
  readonly ms: number;
  /** Guards whose condition was true. */
  readonly reached: readonly string[];
}

/** What the process tells. */
export type GuardEvent =
  | { readonly kind: "unharmed"; readonly run: UnharmedRun }
  | { readonly kind: "trying"; readonly guard: string; readonly test: string; readonly limitMs: number }
  /** `first`: no guard was removed before; `clean`: the test passed again afterwards. */
  | {
    readonly kind: "noticed";
    readonly guard: string;
    readonly by: string;
    readonly first: boolean;
    readonly clean: boolean;
  }
  | { readonly kind: "late"; readonly guard: string; readonly test: string }
  | { readonly kind: "unnoticed"; readonly guard: string }
  | { readonly kind: "done" };

/** How much longer a test may take without a guard, and what all tests of one guard may take. */
const LIMITS = { times: 10, unharmedMs: 60_000, guardMs: 30_000 };

/** Time in which a message reaches all workers. */
const SETTLE_MS = 30;

interface Test {
  readonly id: string;
  readonly name: string;
  readonly run: (context: unknown) => unknown;
}

type Definition = { readonly name?: string; readonly fn?: Test["run"]; readonly ignore?: boolean };

/** Collects tests in place of the test runner, and tells which guards are reached. */
class Harness {
  readonly tests: Test[] = [];
  #file = "";
  #removed: string | undefined;
  #reached = new Set<string>();
  #strays = 0;
  readonly #channel = new BroadcastChannel(CHANNEL);
  #hasWorkers = false;

  constructor() {
    const define = (...parts: (string | Definition | Test["run"])[]) => this.#define(parts);
    const begin: Test["run"][] = [];
    const nothing = () => {};
    const more = { ignore: nothing, only: define, beforeAll: (fn: Test["run"]) => begin.push(fn) };
    const hooks = { afterAll: nothing, beforeEach: nothing, afterEach: nothing };
    Object.defineProperty(Deno, "test", { value: Object.assign(define, more, hooks) });
    Object.defineProperty(Deno, "exit", { value: () => this.#fail("a test ended the process") });
    // What one test gives up would be missing in the next file.
    Object.defineProperty(Deno.permissions, "revoke", { value: Deno.permissions.query });
    Object.defineProperty(globalThis, "guardIsRemoved", { value: (guard: string) => this.#isRemoved(guard) });
    this.#channel.onmessage = ({ data }: MessageEvent<GuardMessage>) => {
      if (data.kind === "reached") this.#reached.add(data.guard);
      if (data.kind !== "began") return;
      this.#hasWorkers = true;
      this.#tellWorkers();
    };
    for (const type of ["unhandledrejection", "error"]) {
      addEventListener(type, (event) => {
        event.preventDefault();
        this.#strays += 1;
      });
    }
  }

  async load(file: string): Promise<void> {
    this.#file = file;
    await import(`${Deno.cwd()}/${file}`);
  }

  /** Runs a test, without a guard if one is named. */
  async run(test: Test, limitMs: number, removed?: string) {
    this.#removed = removed;
    await this.#settle();
    this.#reached = new Set();
    this.#strays = 0;
    const began = performance.now();
    const timer = Promise.withResolvers<"late">();
    const clock = setTimeout(() => timer.resolve("late"), limitMs);
    const ended = Promise.try(() => test.run(contextOf(test.name))).then(
      () => "passed" as const,
      () => "failed" as const,
    );
    const outcome = await Promise.race([ended, timer.promise]);
    const ms = performance.now() - began;
    clearTimeout(clock);
    await this.#settle(); // errors that nobody awaits are reported after the test
    this.#removed = undefined;
    this.#tellWorkers();
    return {
      outcome: outcome === "passed" && this.#strays > 0 ? "failed" : outcome,
      ms,
      reached: [...this.#reached],
    };
  }

  #tellWorkers(): void {
    const message: GuardMessage = { kind: "set", removed: this.#removed };
    this.#channel.postMessage(message);
  }

  /** Waits until workers know what is removed, and what they reached is known here. */
  async #settle(): Promise<void> {
    if (this.#hasWorkers) this.#tellWorkers();
    await new Promise((resolve) => setTimeout(resolve, this.#hasWorkers ? SETTLE_MS : 0));
  }

  #isRemoved(guard: string): boolean {
    this.#reached.add(guard);
    return guard === this.#removed;
  }

  #define(parts: readonly (string | Definition | Test["run"])[]): void {
    const options = parts.find((part) => typeof part === "object");
    const named = parts.find((part) => typeof part === "string");
    const run = parts.find((part) => typeof part === "function") ?? options?.fn;
    if (run === undefined || options?.ignore === true) return;
    const id = `${this.#file} ${this.tests.filter(({ id }) => id.startsWith(`${this.#file} `)).length}`;
    this.tests.push({ id, name: named ?? options?.name ?? run.name, run });
  }

  #fail(text: string): never {
    throw new Error(text);
  }
}

/** Returns what a test gets as its context; a step that fails fails the test. */
function contextOf(name: string) {
  return {
    name,
    origin: import.meta.url,
    step: async (...parts: (string | Definition | Test["run"])[]) => {
      const run = parts.find((part) => typeof part === "function") ??
        parts.find((part) => typeof part === "object")?.fn;
      await run?.(contextOf(name));
      return true;
    },
  };
}

function tell(event: GuardEvent): void {
  // At once: what follows may never end.
  Deno.stdout.writeSync(new TextEncoder().encode(`\n${EVENT}${JSON.stringify(event)}\n`));
}

/** Runs each test that an earlier process did not run, and returns how all of them run. */
async function runUnharmed(
  harness: Harness,
  runs: readonly UnharmedRun[],
): Promise<Map<string, UnharmedRun>> {
  const all = new Map(runs.map((run) => [run.test, run]));
  for (const test of harness.tests) {
    if (all.has(test.id)) continue;
    tell({ kind: "trying", guard: "", test: test.id, limitMs: LIMITS.unharmedMs });
    const { outcome, ms, reached } = await harness.run(test, LIMITS.unharmedMs);
    const run = { test: test.id, passed: outcome === "passed", ms, reached };
    all.set(test.id, run);
    tell({ kind: "unharmed", run });
  }
  return all;
}

/** @returns Whether the process can go on: what a test left behind when it failed may make others fail. */
async function removeGuard(
  harness: Harness,
  guard: string,
  tests: readonly (readonly [Test, UnharmedRun])[],
  { first, late, patienceMs }: Pick<GuardTask, "late" | "patienceMs"> & { readonly first: boolean },
): Promise<boolean> {
  const until = performance.now() + LIMITS.guardMs;
  for (const [test, { ms }] of tests) {
    if (performance.now() > until) break;
    if (late.some(([guardOf, testOf]) => guardOf === guard && testOf === test.id)) continue;
    const limitMs = Math.max(patienceMs, LIMITS.times * ms);
    tell({ kind: "trying", guard, test: test.id, limitMs });
    const { outcome } = await harness.run(test, limitMs, guard);
    if (outcome === "late") {
      tell({ kind: "late", guard, test: test.id });
      return false;
    }
    if (outcome === "passed") continue;
    const clean = (await harness.run(test, limitMs)).outcome === "passed";
    tell({ kind: "noticed", guard, by: `${test.id.split(" ")[0]}: ${test.name}`, first, clean });
    return clean;
  }
  tell({ kind: "unnoticed", guard });
  return true;
}

async function main(): Promise<void> {
  const task: GuardTask = JSON.parse(await new Response(Deno.stdin.readable).text());
  const exit = Deno.exit;
  const harness = new Harness();
  for (const file of task.tests) {
    await harness.load(file).catch((error) => console.error(`cannot load ${file}: ${error}`));
  }
  const runs = await runUnharmed(harness, task.runs);
  let first = true;
  for (const guard of task.guards) {
    const tests = harness.tests.flatMap((test): (readonly [Test, UnharmedRun])[] => {
      const run = runs.get(test.id);
      return run?.passed === true && run.reached.includes(guard) ? [[test, run]] : [];
    }).sort(([, a], [, b]) => a.ms - b.ms);
    if (!await removeGuard(harness, guard, tests, { ...task, first })) exit(0);
    first = false;
  }
  tell({ kind: "done" });
  exit(0);
}

if (import.meta.main) await main();
