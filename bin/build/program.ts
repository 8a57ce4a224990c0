import { glob } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
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
 * Bundles the service into JavaScript modules that need nothing but the runtime: packages are in them. Modules that are
 * imported when they are needed stay modules of their own, since the runtime keeps the text of all that it has loaded.
 * The texts and names depend on the sources and their locked packages only, not on where they lie.
 * @param modules Sources other than the service's own, for tests.
 * @returns Texts of the modules of one folder by name: those in `modules`, and those that they import.
 * @throws {ToolFailed} If a source does not parse, a package cannot be had, or a worker would not be found.
 */
export async function bundleProgram(modules = MODULES): Promise<Map<string, string>> {
  const folder = await Deno.makeTempDir({ prefix: "authserver-bundle-" });
  try {
    const packages = await packageFolder();
    const options = ["--quiet", "--frozen", "--code-splitting", "--outdir", folder];
    const external = NATIVE.flatMap((name) => ["--external", name]);
    await runDeno(["bundle", ...external, ...options, ...Object.values(modules)], { cwd: ROOT });
    const program = await readModules(folder, modules);
    for (const [name, text] of program) program.set(name, portable(text, packages, Object.keys(modules)));
    for (const name of Object.keys(modules)) {
      const reference = `new URL("./${name}", import.meta.url)`;
      if (name !== MAIN_MODULE && !program.values().some((text) => text.includes(reference))) {
        throw new ToolFailed(`The program does not start ${name} as a worker of the same folder`);
      }
    }
    return program;
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/**
 * Reads what the bundler wrote and names the modules anew: its names depend on where the packages lie.
 * @param folder Has a module for each source, and the modules that these import.
 */
async function readModules(
  folder: string,
  modules: Readonly<Record<string, string>>,
): Promise<Map<string, string>> {
  const written = await Array.fromAsync(glob("**/*.js", { cwd: folder }));
  const names = new Map<string, string>();
  for (const [name, source] of Object.entries(modules)) {
    const path = written.find((path) => source.endsWith(`/${path.replace(/js$/, "ts")}`));
    if (path === undefined) throw new ToolFailed(`The bundler wrote no module for ${source}`);
    names.set(path, name);
  }
  const program = new Map<string, string>();
  for (const [path, name] of names) { // grows by the modules that it finds
    const text = await Deno.readTextFile(join(folder, path));
    program.set(
      name,
      text.replaceAll(/"(\.\.?\/[^"\n]+\.js)"/g, (all, reference) => {
        const imported = join(dirname(path), reference);
        if (!written.includes(imported)) return all;
        const found = names.get(imported) ?? imported.replace(/\w+\.js$/, `${names.size}.js`);
        names.set(imported, found);
        return `"./${found}"`;
      }),
    );
  }
  return program;
}

/** Where Deno keeps packages, as the bundler writes it: relative to the project. */
async function packageFolder(): Promise<string> {
  const { npmCache } = JSON.parse(await runDeno(["info", "--json"]));
  return relative(ROOT, String(npmCache));
}

/**
 * Names of packages instead of their places on this machine; workers by the names of their bundled modules, and the
 * folder of the modules, which is flat.
 */
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
    .replaceAll('new URL("../", import.meta.url)', 'new URL("./", import.meta.url)')
    // A text in ASCII is used where it lies; of another one the engine makes a copy of twice its size.
    .replaceAll(/[^\0-\x7F]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
}
