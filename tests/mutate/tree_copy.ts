import { dirname } from "node:path";

const ROOT = new URL("../../", import.meta.url).pathname;
/** What the tests need of the tree. */
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
/** What a test may allocate on its heap, in MiB: a mutant may collect without end. */
const HEAP_MIB = 2048;

/** How a run of tests ended. */
export interface Outcome {
  readonly passed: boolean;
  /** Names of the tests that failed; empty if they took too long, or could not even be loaded. */
  readonly failed: readonly string[];
  readonly late: boolean;
  readonly ms: number;
  /** The end of what was printed. */
  readonly output: string;
}

/**
 * Reports whether tests noticed a mutant: one failed that passes without it, or the file could not be loaded. Tests that do not
 * end in time notice nothing: a hang does not tell what is wrong, and a slow machine looks the same.
 * @param mutant `failed` holds only tests that pass without the mutant.
 */
export function isNoticed(
  mutant: Pick<Outcome, "passed" | "failed" | "late">,
  unharmed: Pick<Outcome, "passed">,
): boolean {
  return mutant.failed.length > 0 || (!mutant.late && !mutant.passed && unharmed.passed);
}

/** A copy of the tree in a temporary folder, to break; the tree itself is never touched. */
export class TreeCopy implements AsyncDisposable {
  /** @param temporary For what tests make: its path is short, since sockets are made below it. */
  private constructor(readonly folder: string, readonly temporary: string) {}

  static async make(): Promise<TreeCopy> {
    const folder = await Deno.makeTempDir({ prefix: "authserver-mutants-" });
    const parts: string[] = [];
    for (const part of PARTS) if (await exists(ROOT + part)) parts.push(ROOT + part);
    const { success, stderr } = await new Deno.Command("cp", { args: ["-r", ...parts, folder] }).output();
    if (!success) throw new Error(`cannot copy the tree: ${new TextDecoder().decode(stderr)}`);
    const temporary = await Deno.makeTempDir({ prefix: "m-" });
    await Deno.chmod(temporary, 0o755); // servers that tests start may run under another account
    return new TreeCopy(folder, temporary);
  }

  /** Writes a file of the copy. @param path Below its folder. @returns What puts the file back as it was. */
  async change(path: string, text: string): Promise<() => Promise<void>> {
    const file = `${this.folder}/${path}`;
    const before = await exists(file) ? await Deno.readTextFile(file) : undefined;
    await Deno.mkdir(dirname(file), { recursive: true });
    await Deno.writeTextFile(file, text);
    return () => before === undefined ? Deno.remove(file) : Deno.writeTextFile(file, before);
  }

  /**
   * Runs tests of the copy.
   * @param files Below its folder.
   * @param withinMs They are ended then, with all that they started, and count as failed.
   * @param options.failFast Whether the first failure is enough.
   * @param options.only What the names of the tests contain.
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
      // A process group of its own, so that what tests start ends with them.
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
    endGroup(child.pid); // what tests left running would keep its output open
    const output = (await Promise.all(printed)).join("");
    await Deno.remove(this.temporary, { recursive: true }).catch(() => {});
    await Deno.mkdir(this.temporary, { recursive: true });
    // Not from the lines with their results: that of a test which lasts is torn in two.
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

/** Ends a process and all that it started, if any of it is left. */
function endGroup(pid: number): void {
  try {
    Deno.kill(-pid, "SIGKILL");
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
}

/** Reads all and keeps the last 200,000 characters: a mutant may print without end. */
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
