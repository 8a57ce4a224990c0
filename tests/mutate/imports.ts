import { dirname, join, normalize } from "node:path";

/** Forms in which one file loads another: `… from "./x.ts"`, `import("./x.ts")`, `new URL("./x.ts", …)`. */
const LOADS =
  /\bfrom\s+"(\.[^"\n]+)"|\bimport\(\s*"(\.[^"\n]+)"|\bimport\s+"(\.[^"\n]+)"|\bnew URL\(\s*"([^"\n]+\.ts)"/g;

/** Graph of the files that load each other below a folder. Paths are relative to it. */
export class Imports {
  readonly #loads: ReadonlyMap<string, readonly string[]>;

  private constructor(loads: ReadonlyMap<string, readonly string[]>) {
    this.#loads = loads;
  }

  /** Reads `main.ts` and all scripts in `src` and `tests`. */
  static async of(root: string): Promise<Imports> {
    const loads = new Map<string, readonly string[]>();
    const files = ["main.ts"];
    for (const folder of ["src", "tests"]) for await (const path of scripts(root, folder)) files.push(path);
    for (const path of files) loads.set(path, loadedBy(path, await Deno.readTextFile(join(root, path))));
    return new Imports(loads);
  }

  get files(): readonly string[] {
    return [...this.#loads.keys()];
  }

  /** Returns the tests that load a file, even indirectly, with their distances; the nearest come first. */
  testsOf(file: string): readonly (readonly [path: string, distance: number])[] {
    const loaders = new Map<string, string[]>();
    for (const [path, loaded] of this.#loads) {
      for (const one of loaded) loaders.set(one, [...loaders.get(one) ?? [], path]);
    }
    const distances = new Map([[file, 0]]);
    const queue = [file];
    for (let path = queue.shift(); path !== undefined; path = queue.shift()) {
      for (const loader of loaders.get(path) ?? []) {
        if (distances.has(loader)) continue;
        distances.set(loader, (distances.get(path) ?? 0) + 1);
        queue.push(loader);
      }
    }
    return [...distances].filter(([path]) => path.startsWith("tests/") && path.endsWith("_test.ts"));
  }
}

/** Returns paths of the files that a file loads, relative to the same folder as its own path. */
export function loadedBy(path: string, text: string): string[] {
  const loaded = [...text.matchAll(LOADS)].map((match) =>
    match.slice(1).find((group) => group !== undefined) ?? ""
  )
    .map((specifier) => normalize(join(dirname(path), specifier)))
    .filter((loaded) => loaded.endsWith(".ts"));
  // Tests start the whole program by its path.
  return /\bmain\.ts["`]/.test(text) ? [...loaded, "main.ts"] : loaded;
}

async function* scripts(root: string, folder: string): AsyncGenerator<string> {
  for await (const { name, isDirectory } of Deno.readDir(join(root, folder))) {
    const path = `${folder}/${name}`;
    if (isDirectory) yield* scripts(root, path);
    else if (name.endsWith(".ts")) yield path;
  }
}
