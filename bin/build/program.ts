import { relative } from "node:path";
import { ROOT } from "./project.ts";
import { runDeno, ToolFailed } from "./run_tool.ts";

/** Name of the module that is run; the others are loaded by it from the same folder. */
export const MAIN_MODULE = "main.js";

/** Names of bundled modules and their sources. The supervisor starts the workers' modules as workers. */
export const MODULES: Readonly<Record<string, string>> = {
  [MAIN_MODULE]: `${ROOT}/main.ts`,
  "edge_worker.js": `${ROOT}/src/workers/edge_worker.ts`,
  "core_worker.js": `${ROOT}/src/workers/core_worker.ts`,
};

/** Parts of `ssh2` in machine code, which it does without. */
const NATIVE = ["*.node", "cpu-features"];

/**
 * Bundles the service into a few JavaScript modules that need nothing but the runtime: packages are in them, also those
 * that are loaded late. The text depends on the sources and their locked packages only, not on where they lie.
 * @param modules Sources other than the service's own, for tests.
 * @throws {ToolFailed} If a source does not parse, a package cannot be had, or a worker would not be found.
 */
export async function bundleProgram(modules = MODULES): Promise<Map<string, string>> {
  const folder = await Deno.makeTempDir({ prefix: "authserver-bundle-" });
  try {
    const packages = await packageFolder();
    const program = new Map<string, string>();
    for (const [name, source] of Object.entries(modules)) {
      const file = `${folder}/${name}`;
      const external = NATIVE.flatMap((name) => ["--external", name]);
      await runDeno(["bundle", "--quiet", "--frozen", ...external, "--output", file, source], { cwd: ROOT });
      program.set(name, portable(await Deno.readTextFile(file), packages, Object.keys(modules)));
    }
    for (const name of program.keys()) {
      const reference = `new URL("./${name}", import.meta.url)`;
      if (name !== MAIN_MODULE && !program.get(MAIN_MODULE)?.includes(reference)) {
        throw new ToolFailed(`The program does not start ${name} as a worker of the same folder`);
      }
    }
    return program;
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** Where Deno keeps packages, as the bundler writes it: relative to the project. */
async function packageFolder(): Promise<string> {
  const { npmCache } = JSON.parse(await runDeno(["info", "--json"]));
  return relative(ROOT, String(npmCache));
}

/** Names of packages instead of their places on this machine; workers by the names of their bundled modules. */
function portable(text: string, packages: string, names: readonly string[]): string {
  const place = new RegExp(`${RegExp.escape(packages)}/[^/"\\n]+/`, "g");
  const modules = names.map((name) => name.replace(/\.js$/, "")).join("|");
  return text
    .replaceAll(place, "npm:")
    .replaceAll(/\b__dirname\b/g, "import.meta.dirname") // what is left of packages that are no ES modules
    .replaceAll(
      new RegExp(`new URL\\("\\./(${modules})\\.ts", import\\.meta\\.url\\)`, "g"),
      (_all, name) => `new URL("./${name}.js", import.meta.url)`,
    )
    // A text in ASCII is used where it lies; of another one the engine makes a copy of twice its size.
    .replaceAll(/[^\0-\x7F]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
}
