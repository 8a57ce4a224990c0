import type { ScratchFolder } from "./scratch_folder.ts";
import { skippedLines } from "./skipped.ts";

/** Concurrent test files: more than cores, since most of them wait for sockets. */
const JOBS = 6;
/** Number of tests between two lines of progress. */
const STEP = 500;
/** Longest time of a whole run, in milliseconds. */
const LONGEST_MS = 30 * 60_000;
/** Longest time that the runner takes to name the tests that hang, in milliseconds. */
const PARTING_MS = 15_000;

/** Signals that end a run early. */
const ENDING = ["SIGINT", "SIGTERM"] as const;

/** Garbage collection by `gc()` costs a third of any other way, and tests of parsers need it often. */
const RUNNER = ["test", "--no-check", "--allow-all", "--parallel", "--quiet", "--v8-flags=--expose-gc"];

/**
 * Runs the tests below the paths.
 * @param print Takes a line of the report.
 * @param options.longestMs Longest run; after it, the run ends, names the tests that hang, and has failed.
 * @param options.scratch Folder in which tests write; default: the system's folder for temporary files.
 * @returns The exit status.
 */
export async function runSuite(
  paths: readonly string[],
  print: (line: string) => void,
  { longestMs = LONGEST_MS, scratch }: {
    readonly longestMs?: number;
    readonly scratch?: Pick<ScratchFolder, "path" | "within">;
  } = {},
): Promise<number> {
  const [program = "", ...args] = [...scratch?.within ?? [], Deno.execPath(), ...RUNNER, ...paths];
  const child = new Deno.Command(program, {
    args,
    env: { DENO_JOBS: String(JOBS), NO_COLOR: "1", ...scratch && { TMPDIR: scratch.path } },
    stdout: "piped",
    stderr: "piped",
    detached: true, // leads the process group of all that tests start
  }).spawn();
  const interrupt = () => signalGroup(child, "SIGINT");
  for (const signal of ENDING) Deno.addSignalListener(signal, interrupt);
  const report = new Report(print);
  const reading = Promise.all([
    readLines(child.stdout, (line) => report.take(line)),
    readLines(child.stderr, print),
  ]);
  const ended = reading.then(() => child.status);
  const timers: ReturnType<typeof setTimeout>[] = [];
  const late = new Promise<undefined>((resolve) => {
    timers.push(setTimeout(() => {
      print(`The tests took longer than ${longestMs / 60_000} minutes: those that hang follow`);
      child.kill("SIGINT"); // the runner names the running tests
      timers.push(setTimeout(() => resolve(undefined), PARTING_MS));
      void ended.then(() => resolve(undefined));
    }, longestMs));
  });
  const status = await Promise.race([
    ended.then((status) => timers.length > 1 ? undefined : status),
    late,
  ]);
  timers.forEach((timer) => clearTimeout(timer));
  for (const signal of ENDING) Deno.removeSignalListener(signal, interrupt);
  signalGroup(child, "SIGKILL"); // processes that tests left running
  for (const line of await skippedLines(report.skipped)) print(line);
  if (status !== undefined) return status.code;
  print(`FAILED | ${report.done} passed | ${report.failed} failed | not ended: see above`);
  return 1;
}

/** Signals a process and all processes that it started. */
function signalGroup({ pid }: Deno.ChildProcess, signal: Deno.Signal): void {
  try {
    Deno.kill(-pid, signal);
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error; // else all have ended
  }
}

async function readLines(stream: ReadableStream<Uint8Array<ArrayBuffer>>, take: (line: string) => void) {
  let rest = "";
  for await (const text of stream.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    lines.forEach(take);
  }
  if (rest !== "") take(rest);
}

/** Output of the runner so far. */
class Report {
  readonly skipped: string[] = [];
  done = 0;
  failed = 0;
  readonly #print: (line: string) => void;
  readonly #began = performance.now();

  constructor(print: (line: string) => void) {
    this.#print = print;
  }

  take(line: string): void {
    const ended = testEnded(line);
    if (ended === undefined || ended === "FAILED") this.#print(line);
    if (ended === "ignored") this.skipped.push(line);
    if (ended === "FAILED") this.failed++;
    else if (ended !== undefined && ++this.done % STEP === 0) {
      this.#print(`${this.done} passed (${Math.round((performance.now() - this.#began) / 1000)} s)`);
    }
  }
}

/** Returns the outcome in the line of a test, `file => name ... ok (3ms)`; `undefined` for other lines. */
function testEnded(line: string): string | undefined {
  return / \.\.\. (ok|ignored|FAILED)(?: \([^)]*\))?$/.exec(line)?.[1];
}
