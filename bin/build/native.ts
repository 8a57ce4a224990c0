import { MAIN_MODULE } from "./program.ts";
import { runDeno } from "./run_tool.ts";
import type { Target } from "./target.ts";

/** How long the download site may take to say that it has the runtime, in milliseconds. */
const ANSWER_MS = 10_000;

/**
 * Whether the runtime of compiled executables, `denort`, can be had: named by `DENORT_BIN`, downloaded before, or on Deno's
 * download site.
 */
export async function canCompile(target: Target): Promise<boolean> {
  if (Deno.env.get("DENORT_BIN")) return true;
  const archive = `release/v${Deno.version.deno}/denort-${target}.zip`;
  const { denoDir } = JSON.parse(await runDeno(["info", "--json"]));
  try {
    await Deno.stat(`${denoDir}/dl/${archive}`);
    return true;
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
  try {
    const signal = AbortSignal.timeout(ANSWER_MS);
    return (await fetch(`https://dl.deno.land/${archive}`, { method: "HEAD", signal })).ok;
  } catch {
    return false; // the site cannot be reached
  }
}

/**
 * Makes an executable with `deno compile`.
 * @throws {ToolFailed} If that fails.
 */
export async function compileNative({ output, target, program, flags }: {
  readonly output: string;
  readonly target: Target;
  readonly program: ReadonlyMap<string, string>;
  readonly flags: readonly string[];
}): Promise<void> {
  const folder = await Deno.makeTempDir({ prefix: "authserver-compile-" });
  try {
    for (const [name, text] of program) await Deno.writeTextFile(`${folder}/${name}`, text);
    const workers = [...program.keys()].filter((name) => name !== MAIN_MODULE);
    await runDeno([
      "compile",
      "--quiet",
      "--no-config",
      "--no-lock",
      "--no-check",
      ...flags,
      ...["--target", target, "--output", output, "--app-name", "authserver"],
      ...workers.flatMap((name) => ["--include", name]),
      MAIN_MODULE,
    ], { cwd: folder });
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}
