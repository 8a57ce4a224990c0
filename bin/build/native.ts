import { replaceFile } from "./replace_file.ts";
import { MAIN_MODULE } from "./program.ts";
import { runDeno, runTool, ToolFailed } from "./run_tool.ts";
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
 * Makes an executable with `deno compile`, and runs it once where this system can: what `DENORT_BIN` names may be anything.
 * @throws {ToolFailed} If that fails, or what was made does not print the version.
 */
export async function compileNative({ output, target, version, program, flags }: {
  readonly output: string;
  readonly target: Target;
  readonly version: string;
  readonly program: ReadonlyMap<string, string>;
  readonly flags: readonly string[];
}): Promise<void> {
  const folder = await Deno.makeTempDir({ prefix: "authserver-compile-" });
  try {
    for (const [name, text] of program) await Deno.writeTextFile(`${folder}/${name}`, text);
    const made = `${folder}/made`;
    const others = [...program.keys()].filter((name) => name !== MAIN_MODULE);
    await runDeno([
      "compile",
      "--quiet",
      "--no-config",
      "--no-lock",
      "--no-check",
      ...flags,
      ...["--target", target, "--output", made, "--app-name", "authserver"],
      ...others.flatMap((name) => ["--include", name]),
      MAIN_MODULE,
    ], { cwd: folder });
    if (target === Deno.build.target) await tryOut(made, version);
    await replaceFile(output, await Deno.readFile(made));
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** How long a program may take to print its version, in milliseconds. */
const VERSION_MS = 60_000;

/** @throws {ToolFailed} If it does not run, or is another program. */
async function tryOut(program: string, version: string): Promise<void> {
  const runtime = Deno.env.get("DENORT_BIN");
  const blame = runtime ? `DENORT_BIN=${runtime} is not the runtime of this version: ` : "";
  let said: string;
  try {
    said = await runTool(program, ["--version"], { signal: AbortSignal.timeout(VERSION_MS) });
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    throw new ToolFailed(`${blame}what was compiled does not run: ${error.message}`, { cause: error });
  }
  if (said.startsWith(`authserver ${version} (Deno ${Deno.version.deno}, `)) return;
  throw new ToolFailed(
    `${blame}what was compiled should say "authserver ${version} (Deno ${Deno.version.deno}, …)", found ${
      JSON.stringify(said.slice(0, 200))
    }`,
  );
}
