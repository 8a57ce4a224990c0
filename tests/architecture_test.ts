import assert from "node:assert/strict";
import { basename, dirname, join, relative } from "node:path";
import { ifExists } from "../src/model/regular_file.ts";
import { undocumentedExports } from "./documented_exports.ts";
import { exportedNames, importedNames } from "./exports.ts";
import { longFunctions } from "./long_functions.ts";

/**
 * Layers of `src/`, from the top down. Imports go down, never up and never to a folder of the same layer: a
 * layer above passes in what a folder needs from its neighbour.
 */
const FLOORS: readonly (readonly string[])[] = [
  ["command"],
  ["workers"],
  ["edge", "service"],
  ["pages"],
  ["resource"],
  ["authentication", "attributes", "instances", "reservations", "throttling", "sharing"],
  ["files"],
  ["daemon", "notify"],
  ["watch", "outgoing", "store"],
  ["config"],
  ["logging", "metrics"],
  ["model"],
];

/** Packages that several folders import, with these folders; only one folder imports any other package. */
const PACKAGES: Readonly<Record<string, RegExp>> = {
  "jose": /^authentication\//,
  "@xmldom/xmldom": /^(?:attributes|authentication\/unity)\//,
};

const SRC = new URL("../src/", import.meta.url).pathname;
const BIN = new URL("../bin/", import.meta.url).pathname;

async function* sources(folder = SRC): AsyncGenerator<string> {
  for await (const { name, isDirectory } of Deno.readDir(folder)) {
    const path = join(folder, name);
    if (isDirectory) yield* sources(path);
    else if (name.endsWith(".ts")) yield path;
  }
}

interface Import {
  /** Relative to `src`. */
  readonly from: string;
  readonly specifier: string;
}

/** `import … from "x"`, `export … from "x"`, `import "x"`, `import("x")`; types or not. */
const STATEMENTS = [
  /^import(?:\s+type)?\s+(?:[\w*{][^;"']*?\s+from\s+)?"([^"\n]+)"/gm,
  /^export(?:\s+type)?\s*(?:\{[^}]*\}|\*(?:\s+as\s+\w+)?)\s*from\s+"([^"\n]+)"/gm,
  /\bimport(?:\s+type)?\(\s*"([^"\n]+)"/g,
];

async function imports(): Promise<Import[]> {
  const found: Import[] = [];
  for await (const path of sources()) {
    const text = await Deno.readTextFile(path);
    for (const [, specifier = ""] of STATEMENTS.flatMap((form) => [...text.matchAll(form)])) {
      found.push({ from: relative(SRC, path), specifier });
    }
  }
  return found;
}

function floorOf(folder: string): number {
  return FLOORS.findIndex((folders) => folders.includes(folder));
}

Deno.test("every folder of src is in the table of layers, and src itself contains no files", async () => {
  for await (const { name, isDirectory } of Deno.readDir(SRC)) {
    assert(isDirectory && floorOf(name) >= 0, `src/${name} has no floor`);
  }
});

Deno.test("imports between folders go to lower layers", async () => {
  const wrong = (await imports()).filter(({ from, specifier }) => {
    if (!specifier.startsWith(".")) return false;
    const target = relative(SRC, join(SRC, dirname(from), specifier));
    const [here = "", there = ""] = [from.split("/")[0], target.split("/")[0]];
    // The project file is data (name and version), as are the initial configuration with the scripts of its
    // folder, and the parts of the manual that commands print.
    const isData = target === "../deno.json" || target.startsWith("../conf/") ||
      /^\.\.\/(?:bin\/[\w-]+\.sh|docs\/(?:completions\/.*|configuration\.schema\.json))$/.test(target);
    return here !== there && !isData && floorOf(there) <= floorOf(here);
  });
  assert.deepEqual(wrong, []);
});

Deno.test("no file imports from main or from the tests", async () => {
  const wrong = (await imports()).filter(({ specifier }) => /(?:^|\/)(?:tests\/|main\.ts$)/.test(specifier));
  assert.deepEqual(wrong, []);
});

Deno.test("src imports only node: modules and the README's packages, each in one folder or as the table permits", async () => {
  const readme = await Deno.readTextFile(new URL("../README.md", import.meta.url));
  const homes = new Map<string, Set<string>>();
  const wrong = (await imports()).filter(({ from, specifier }) => {
    if (specifier.startsWith(".") || specifier.startsWith("node:")) return false;
    const [, name = ""] = /^(@[^/]+\/[^/]+|[^/]+)/.exec(specifier) ?? [];
    const shared = PACKAGES[name];
    if (shared === undefined) homes.set(name, (homes.get(name) ?? new Set()).add(dirname(from)));
    return shared?.test(from) === false || !new RegExp(`^\\|[^|]*\`${name}\``, "m").test(readme);
  });
  assert.deepEqual(wrong, []);
  const scattered = [...homes].filter(([, folders]) => folders.size > 1);
  assert.deepEqual(scattered, []);
});

Deno.test("functions have at most 60 lines", async () => {
  const long: string[] = [];
  for await (const path of sources()) {
    for (const { name, lines } of longFunctions(await Deno.readTextFile(path), 60)) {
      long.push(`${relative(SRC, path)}: ${name} has ${lines}`);
    }
  }
  assert.deepEqual(long, []);
});

Deno.test("longFunctions() counts the lines of all kinds of functions", () => {
  const body = (lines: number) => `{\n${"f();\n".repeat(lines - 2)}}`;
  const text = [
    `/** A\n * comment.\n */\nfunction a() ${body(4)}`,
    `class C { b() ${body(5)}\n get c() ${body(6)} }`,
    `const d = () => ${body(7)};`,
    `const short = () => ${body(3)};`,
  ].join("\n");
  assert.deepEqual(longFunctions(text, 3).map(({ name, lines }) => [name, lines]), [
    ["a", 4],
    ["b", 5],
    ["c", 6],
    ["d", 7],
  ]);
});

Deno.test("functions, classes and constants that src and bin export have doc comments", async () => {
  const missing: string[] = [];
  let looked = 0;
  for (const folder of [SRC, BIN]) {
    for await (const file of sources(folder)) {
      looked++;
      for (const { line, name } of undocumentedExports(await Deno.readTextFile(file))) {
        missing.push(`${relative(dirname(folder), file)}:${line}: ${name}`);
      }
    }
  }
  assert(looked > 300, `only ${looked} files are found`);
  assert.deepEqual(missing, []);
});

Deno.test("undocumentedExports() finds each kind of declaration, accepts one comment for overloads and groups, and requires none for types", () => {
  const source = [
    "/** A file. */",
    "export function told(a: string): void;",
    "export function told(a: unknown) {}",
    "export function untold() {}",
    "export const a = 1, b = 2;",
    "/** Told. */",
    "export class C {}",
    "// no doc comment",
    "export interface I {}",
    "export type T = string;",
    "function own() {}",
    "export { own };",
    'export * from "./x.ts";',
    "/** Two. */",
    "export const c = 1;",
    "export const d = 2;",
    "",
    "export const e = 3;",
  ].join("\n");
  assert.deepEqual(undocumentedExports(source).map(({ line, name }) => `${line} ${name}`), [
    "4 untold",
    "5 a",
    "5 b",
    "18 e",
  ]);
});

Deno.test("no doc comment directly precedes another one", async () => {
  const wrong: string[] = [];
  for await (const path of sources()) {
    const text = await Deno.readTextFile(path);
    // Only after the imports: the comment before them describes the file.
    if (/^(?!import )[^\n]*\n\/\*\*(?:[^*]|\*(?!\/))*\*\/\n\/\*\*/m.test(text)) {
      wrong.push(relative(SRC, path));
    }
  }
  assert.deepEqual(wrong, []);
});

Deno.test("imports form no cycles, not even type imports", async () => {
  const edges = new Map<string, Set<string>>();
  for (const { from, specifier } of await imports()) {
    if (!specifier.startsWith(".")) continue;
    const target = relative(SRC, join(SRC, dirname(from), specifier));
    edges.set(from, (edges.get(from) ?? new Set()).add(target));
  }
  const state = new Map<string, "open" | "done">();
  const visit = (file: string, way: readonly string[]) => {
    if (state.get(file) === "done") return;
    assert.notEqual(state.get(file), "open", `circle: ${[...way, file].join(" -> ")}`);
    state.set(file, "open");
    for (const next of edges.get(file) ?? []) visit(next, [...way, file]);
    state.set(file, "done");
  };
  for (const file of edges.keys()) visit(file, []);
});

Deno.test("a source of time is named `clock`, a stopwatch `elapsed`, and a moment `now`", async () => {
  const wrong: string[] = [];
  for await (const path of sources()) {
    const text = await Deno.readTextFile(path);
    for (
      const [found] of text.matchAll(/\b(?:now\??: (?:Clock|Stopwatch|\(\) =>)|(?:clock|elapsed): number).*/g)
    ) {
      wrong.push(`${relative(SRC, path)}: ${found}`);
    }
  }
  assert.deepEqual(wrong, []);
});

/**
 * Errors whose text is shown alone, and thus begins like a sentence. Texts of other errors follow a prefix.
 */
const SENTENCES =
  /^(?:new (?:WrongUsage|CommandFailed|InvalidAdminRequest|AdminRequestFailed|FileNotChanged|ReservationNotChanged|AdministrationError|SessionEnded)|invalidRequest)$/;

/** Text that begins with a name (of a member, of an algorithm), which keeps its case. */
const NAME_FIRST = /^(?:[A-Z]+[\dA-Z]|Ed25519|\w+(?: is missing)?:|[^A-Za-z])/;

Deno.test("error texts begin with a capital letter if shown alone, otherwise in lower case", async () => {
  const wrong: string[] = [];
  for await (const path of sources()) {
    const text = await Deno.readTextFile(path);
    const made =
      /\b(new [\w.]*(?:Error|Failed|Refused|Usage|Invalid\w*|Unus\w+|Unknown|NotChanged|Ended|NotFound)|invalidRequest)\(\s*(?:[\w.]+, |\[)*(["`])(.+?)\2/g;
    const expected = /()\bexpected: (["`])(.+?)\2/g;
    for (const [, by = "", , said = ""] of [...text.matchAll(made), ...text.matchAll(expected)]) {
      const capital = /^[A-Z]/.test(said);
      if (!NAME_FIRST.test(said) && capital !== SENTENCES.test(by)) {
        wrong.push(`${relative(SRC, path)}: ${said.slice(0, 80)}`);
      }
    }
  }
  assert.deepEqual(wrong, []);
});

/** Files in which a spread omits absent members, with the reason why `undefined` would not do. */
const TELLS_ABSENT: Readonly<Record<string, string>> = {
  "authentication/issued_token/restrictions.ts": "claims are compared by their members",
  "authentication/issued_token/issue.ts": "claims are compared by their members",
  "authentication/oauth/key_set.ts": "options of a package",
  "authentication/chain.ts": "members are printed one by one",
  "command/command.ts": "options of the platform",
  "outgoing/open_tls.ts": "options of the platform",
  "resource/access/directory_listing.ts": "members are printed one by one",
};

Deno.test("absent values are passed as `undefined`, not omitted by a spread", async () => {
  const found = new Set<string>();
  for await (const path of sources()) {
    if (/\.\.\.\(\w+(?: !== undefined)? && \{/.test(await Deno.readTextFile(path))) {
      found.add(relative(SRC, path));
    }
  }
  assert.deepEqual([...found].sort(), Object.keys(TELLS_ABSENT).sort());
});

/**
 * Short files that only one neighbour imports, with the reason why each is a separate concept. The test
 * skips files that are loaded late or have tests at their path, and files with a long neighbour.
 */
const SMALL_BUT_WHOLE: Readonly<Record<string, string>> = {
  "command/common_passwords.txt": "a list",
  "edge/back_pressure.ts": "a workaround for the runtime, in the list of these",
  "resource/login.sh": "a script of users",
};

Deno.test("a short file with only one importer in its folder joins the importer", async () => {
  const importers = new Map<string, string[]>();
  for (const { from, specifier } of await imports()) {
    if (!specifier.startsWith(".")) continue;
    const target = join(dirname(from), specifier);
    importers.set(target, [...importers.get(target) ?? [], from]);
  }
  const lines = async (file: string) => (await Deno.readTextFile(join(SRC, file))).split("\n").length - 1;
  const found: string[] = [];
  for (const [file, by] of importers) {
    const [one = "", other] = new Set(by);
    if (other !== undefined || dirname(one) !== dirname(file) || file.startsWith("..")) continue;
    const own = new URL(file.replace(/\.ts$/, "_test.ts"), import.meta.url);
    if (await ifExists(Deno.stat(own)) !== undefined) continue;
    if ((await Deno.readTextFile(join(SRC, one))).includes(`import("./${basename(file)}")`)) continue;
    const length = await lines(file);
    if (length <= 45 && length + await lines(one) <= 250) found.push(file);
  }
  const expected = Object.keys(SMALL_BUT_WHOLE).sort();
  assert.deepEqual(found.sort(), expected, "joins its only importer, or is in the list with a reason");
});

/** Returns the architecture page's table of tests: folders of `src/`, and tests that reach their files. */
async function doors(): Promise<Map<string, readonly string[]>> {
  const page = await Deno.readTextFile(new URL("../docs/architecture.md", import.meta.url));
  const rows = page.matchAll(/^\| `([\w/]+)\/` +\| ((?:`[\w/]+_test\.ts`(?:, )?)+) +\|$/gm);
  return new Map(
    Array.from(rows, ([, folder = "", tests = ""]) => [folder, tests.match(/[\w/]+_test\.ts/g) ?? []]),
  );
}

/** Returns the files that a file names; for a test that runs the program, also the program. */
async function named(file: string): Promise<readonly string[]> {
  const text = await ifExists(Deno.readTextFile(file)) ?? "";
  const found = [...STATEMENTS, /new URL\("([^"\n]+\.ts)"/g].flatMap((form) => [...text.matchAll(form)])
    .flatMap(([, name = ""]) => name.startsWith(".") ? join(dirname(file), name) : []);
  return /\bmain\.ts["`]/.test(text) ? [...found, join(SRC, "../main.ts")] : found;
}

Deno.test("each file has tests at its path, or the architecture page names tests that reach it", async () => {
  const table = await doors();
  const tests = new URL(".", import.meta.url).pathname;
  const names = new Map<string, Promise<readonly string[]>>();
  const reach = new Map<string, Set<string>>();
  const behind = async (folder: string) => {
    const known = reach.get(folder);
    if (known !== undefined) return known;
    const all = new Set<string>();
    for (const test of table.get(folder) ?? []) {
      assert(await ifExists(Deno.stat(join(tests, test))), `docs/architecture.md: no tests/${test}`);
      all.add(join(tests, test));
    }
    for (const file of all) { // including files that the loop adds
      const there = names.get(file) ?? named(file);
      names.set(file, there);
      for (const name of await there) all.add(name);
    }
    reach.set(folder, all);
    return all;
  };
  const bare: string[] = [];
  for await (const path of sources()) {
    const file = relative(SRC, path);
    const own = await ifExists(Deno.stat(join(tests, file.replace(/\.ts$/, "_test.ts"))));
    if (own === undefined && !(await behind(dirname(file))).has(path)) bare.push(file);
  }
  assert.deepEqual(bare, []);
  const idle = [...table.keys()].filter((folder) => !reach.has(folder));
  assert.deepEqual(idle, [], "a door that nobody needs");
});

/** Entry point of the package, whose exports are for other projects. */
const PUBLIC = "service/mount.ts";

Deno.test("every export of src is imported somewhere", async () => {
  const root = join(SRC, "..");
  const files = [join(root, "main.ts")];
  for (const folder of ["src", "tests", "bin"]) {
    for await (const path of sources(join(root, folder))) files.push(path);
  }
  const taken = new Set<string>();
  for (const path of files) {
    for (const name of importedNames(path, await Deno.readTextFile(path))) taken.add(name);
  }
  const idle: string[] = [];
  for await (const path of sources()) {
    if (taken.has(`${path}: *`) || relative(SRC, path) === PUBLIC) continue;
    for (const name of exportedNames(await Deno.readTextFile(path))) {
      if (!taken.has(`${path}: ${name}`)) idle.push(`${relative(SRC, path)}: ${name}`);
    }
  }
  assert.deepEqual(idle, [], "exported, and imported nowhere: without `export`");
});

Deno.test("exportedNames() and importedNames() read all forms of declarations and imports", () => {
  const declarations =
    "export const A = 1, B = 2;\nexport async function c() {}\nexport type D = 1;\nconst e = 1;\n";
  assert.deepEqual(exportedNames(declarations), ["A", "B", "c", "D"]);
  const imports =
    'import { type A, b as c } from "./x.ts";\nimport * as d from "./y.ts";\nimport { resolve } from "node:path";\n' +
    'const e = await import("./z.ts");\nlet f: import("./x.ts").F;\n';
  assert.deepEqual(importedNames("/src/a.ts", imports), [
    "/src/x.ts: A",
    "/src/x.ts: b",
    "/src/y.ts: *",
    "/src/z.ts: *",
    "/src/x.ts: F",
  ]);
});

Deno.test("only files/ opens data sessions", async () => {
  const opened: string[] = [];
  for await (const path of sources()) {
    if (/\b(?:sessions|client)\.open\(/.test(await Deno.readTextFile(path))) opened.push(relative(SRC, path));
  }
  assert.deepEqual(opened, ["files/files.ts"]);
});
