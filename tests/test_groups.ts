/**
 * Folders below `tests/` whose test files run together, those of each folder in one isolate: to load the modules that they share
 * takes longer than most of their tests. Tests that measure memory or processor time, or take the machine for themselves, are
 * in other folders.
 */
const TOGETHER = [
  "attributes",
  "authentication",
  "config",
  "pages",
  "resource",
  "sharing",
];

/** What to give `deno test` in the place of the folders. */
export interface TestGroups extends AsyncDisposable {
  /** Modules that import the test files of one folder each. */
  readonly modules: readonly string[];
  /** The folders themselves. */
  readonly folders: readonly string[];
}

/** Writes the modules into a temporary folder. @param tests The folder `tests/`. */
export async function writeTestGroups(tests: URL): Promise<TestGroups> {
  const made = await Deno.makeTempDir({ prefix: "authserver-tests-" });
  const modules: string[] = [];
  const add = async (folder: URL, name: string): Promise<void> => {
    const files: string[] = [];
    for (const entry of Array.from(Deno.readDirSync(folder)).sort((a, b) => a.name < b.name ? -1 : 1)) {
      if (entry.isDirectory) await add(new URL(`${entry.name}/`, folder), `${name}_${entry.name}`);
      else if (entry.name.endsWith("_test.ts")) files.push(new URL(entry.name, folder).href);
    }
    if (files.length === 0) return;
    const module = `${made}/${name}_test.ts`;
    await Deno.writeTextFile(module, files.map((file) => `import ${JSON.stringify(file)};\n`).join(""));
    modules.push(module);
  };
  for (const name of TOGETHER) await add(new URL(`${name}/`, tests), name);
  return {
    modules,
    folders: TOGETHER.map((name) => `tests/${name}`),
    [Symbol.asyncDispose]: () => Deno.remove(made, { recursive: true }),
  };
}
