import { dirname } from "node:path";

const ROOT = new URL("../../", import.meta.url).pathname;
/** Files and folders of the tree that the tests need. */
const PARTS = [
  ".deno-version",
  "README.md",
  "LICENSE",
  "bin",
  "conf",
  "deno.json",
  "deno.lock",
  "docs",
  "main.ts",
  "src",
  "tests",
];
/** Heap limit of a test, in MiB: a mutant may allocate without end. */
const HEAP_MIB = 2048;

/** Outcome of a test run. */
export interface Outcome {
  readonly passed: boolean;
  /** Names of the tests that failed; may be empty if the run took too long or a file could not be loaded. */
  readonly failed: readonly string[];
  readonly late: boolean;
  readonly ms: number;
  /** End of standard output, followed by the end of standard error. */
  readonly output: string;
}

/**
 * Reports whether tests noticed a mutant: a test failed that passes without it, or the file could not be
 * loaded. A timeout is not enough: it does not show the mistake, and a slow machine looks the same.
 * @param mutant `failed` holds only tests that pass without the mutant.
 */
export function isNoticed(
  mutant: Pick<Outcome, "passed" | "failed" | "late">,
  unharmed: Pick<Outcome, "passed">,
): boolean {
  return mutant.failed.length > 0 || (!mutant.late && !mutant.passed && unharmed.passed);
}

/** Copy of the tree in a temporary folder, for tests with mistakes; the tree itself never changes. */
export class TreeCopy implements AsyncDisposable {
  /** @param temporary Temporary folder of the tests; its path is short because tests create sockets in it. */
  private constructor(readonly folder: string, readonly temporary: string) {}

  static async make(): Promise<TreeCopy> {
    const folder = await Deno.makeTempDir({ prefix: "authserver-mutants-" });
    const parts: string[] = [];
    for (const part of PARTS) if (await exists(ROOT + part)) parts.push(ROOT + part);
    const { success, stderr } = await new Deno.Command("cp", { args: ["-r", ...parts, folder] }).output();
    if (!success) throw new Error(`cannot copy the tree: ${new TextDecoder().decode(stderr)}`);
    const temporary = await Deno.makeTempDir({ prefix: "m-" });
    await Deno.chmod(temporary, 0o755); // servers of the tests may run under another account
    return new TreeCopy(folder, temporary);
  }

  /** Writes a file of the copy. @param path Relative to its folder. @returns Restores the file. */
  async change(path: string, text: string): Promise<() => Promise<void>> {
    const file = `${this.folder}/${path}`;
    const before = await exists(file) ? await Deno.readTextFile(file) : undefined;
    await Deno.mkdir(dirname(file), { recursive: true });
    await Deno.writeTextFile(file, text);
    return () => before === undefined ? Deno.remove(file) : Deno.writeTextFile(file, before);
  }

  /**
   * Runs tests of the copy.
   * @param files Paths relative to its folder.
   * @param withinMs Timeout that kills the tests with their child processes; the run has failed then.
   * @param options.failFast Whether to stop at the first failure.
   * @param options.only Text in the names of the tests to run.
   */
  async test(
    files: readonly string[],
    withinMs: number,
    { failFast = false, only }: { readonly failFast?: boolean; readonly only?: string | undefined } = {},
  ): Promise<Outcome> {
    return await this.#run([
      "test",
      "--no-check",
      "--allow-all",
      `--v8-flags=--max-old-space-size=${HEAP_MIB}`,
      ...(failFast ? ["--fail-fast"] : []),
      ...(only === undefined ? [] : [`--filter=${only}`]),
      ...files,
    ], withinMs);
  }

  /** Reports whether a file of the copy compiles. */
  async compiles(file: string, withinMs: number): Promise<boolean> {
    return (await this.#run(["check", "--quiet", file], withinMs)).passed;
  }

  async #run(args: readonly string[], withinMs: number): Promise<Outcome> {
    const began = performance.now();
    const child = new Deno.Command(Deno.execPath(), {
      args: [...args],
      cwd: this.folder,
      env: { NO_COLOR: "1", TMPDIR: this.temporary },
      stdout: "piped",
      stderr: "piped",
      // Starts a process group, so that child processes of the tests end with them.
      detached: true,
    }).spawn();
    let late = false;
    const timer = setTimeout(() => {
      late = true;
      endGroup(child.pid);
    }, withinMs);
    const printed = [endOf(child.stdout), endOf(child.stderr)];
    const { success } = await child.status;
    clearTimeout(timer);
    endGroup(child.pid); // processes that tests left running would keep the pipes open
    const output = (await Promise.all(printed)).join("");
    await Deno.remove(this.temporary, { recursive: true }).catch(() => {});
    await Deno.mkdir(this.temporary, { recursive: true });
    // The lines with results are no source: Deno splits the line of a slow test in two.
    const failed = new Set(
      [...output.matchAll(/^(.+) => \.\/\S+:\d+:\d+$/gm)].map(([, name = ""]) => name.trim()),
    );
    return { passed: success && !late, failed: [...failed], late, ms: performance.now() - began, output };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Deno.remove(this.folder, { recursive: true });
    await Deno.remove(this.temporary, { recursive: true });
  }
}

/** Kills a process group, if any process of it is left. */
function endGroup(pid: number): void {
  try {
    Deno.kill(-pid, "SIGKILL");
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
}

/** Reads a stream and keeps the last 200,000 characters: a mutant may print without end. */
async function endOf(stream: ReadableStream<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const part of stream) text = (text + decoder.decode(part, { stream: true })).slice(-200_000);
  return text;
}

async function exists(path: string): Promise<boolean> {
  try {
    await Deno.lstat(path);
    return true;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}
