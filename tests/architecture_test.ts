import assert from "node:assert/strict";
import { basename, dirname, join, relative } from "node:path";
import { unlessAbsent } from "../src/model/regular_file.ts";
import { exportedNames, importedNames } from "./exports.ts";
import { longFunctions } from "./long_functions.ts";

/**
 * The floors of the house, from the top down. Imports go down, never up and never to a neighbour on the same floor: what
 * one folder needs of its neighbour is handed in from above.
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

/** Packages that more than one folder imports, and where; each other one belongs to the folder that imports it. */
const PACKAGES: Readonly<Record<string, RegExp>> = {
  "jose": /^authentication\//,
  "@xmldom/xmldom": /^(?:attributes|authentication\/unity)\//,
};

const SRC = new URL("../src/", import.meta.url).pathname;

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

Deno.test("src has no folder that the table of floors does not know, and no loose files", async () => {
  for await (const { name, isDirectory } of Deno.readDir(SRC)) {
    assert(isDirectory && floorOf(name) >= 0, `src/${name} has no floor`);
  }
});

Deno.test("imports between folders go down", async () => {
  const wrong = (await imports()).filter(({ from, specifier }) => {
    if (!specifier.startsWith(".")) return false;
    const target = relative(SRC, join(SRC, dirname(from), specifier));
    const [here = "", there = ""] = [from.split("/")[0], target.split("/")[0]];
    // The project file is data, name and version; so is the configuration to start from, with the scripts of its folder,
    // and what commands print of the manual.
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

Deno.test("only node: modules and packages of the README are imported, each by one folder or as the table says", async () => {
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

Deno.test("longFunctions() counts what a function spans, whatever kind of function it is", () => {
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

Deno.test("no doc comment stands before another one, where it would belong to nothing", async () => {
  const wrong: string[] = [];
  for await (const path of sources()) {
    const text = await Deno.readTextFile(path);
    // Behind the imports: before them stands what is said of the file.
    if (/^(?!import )[^\n]*\n\/\*\*(?:[^*]|\*(?!\/))*\*\/\n\/\*\*/m.test(text)) {
      wrong.push(relative(SRC, path));
    }
  }
  assert.deepEqual(wrong, []);
});

Deno.test("no file is named by one that it names itself, not even for a type", async () => {
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

Deno.test("what tells the time is a `clock`, what tells durations `elapsed`, and a moment is `now`", async () => {
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

/** Errors whose text is shown as it is, and thus begins as a sentence does. Others say what stands behind something else. */
const SENTENCES =
  /^(?:new (?:WrongUsage|CommandFailed|InvalidAdminRequest|AdminRequestFailed|FileNotChanged|ReservationNotChanged|AdministrationError|SessionEnded)|invalidRequest)$/;

/** Of a text: what begins it is a name (of a member, of an algorithm), which is written as it is. */
const NAME_FIRST = /^(?:[A-Z]+[\dA-Z]|Ed25519|\w+(?: is missing)?:|[^A-Za-z])/;

Deno.test("texts of errors begin with a capital letter where they are shown alone, and else with a small one", async () => {
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

/** Where a spread leaves out what is absent, since what is made there tells that from `undefined`. */
const TELLS_ABSENT: Readonly<Record<string, string>> = {
  "authentication/issued_token/restrictions.ts": "claims are compared by their members",
  "authentication/issued_token/issue.ts": "claims are compared by their members",
  "authentication/oauth/key_set.ts": "options of a package",
  "authentication/chain.ts": "members are printed one by one",
  "command/command.ts": "options of the platform",
  "outgoing/open_tls.ts": "options of the platform",
  "resource/access/directory_listing.ts": "members are printed one by one",
};

Deno.test("what is absent is passed on as `undefined`, no spread leaves it out", async () => {
  const found = new Set<string>();
  for await (const path of sources()) {
    if (/\.\.\.\(\w+(?: !== undefined)? && \{/.test(await Deno.readTextFile(path))) {
      found.add(relative(SRC, path));
    }
  }
  assert.deepEqual([...found].sort(), Object.keys(TELLS_ABSENT).sort());
});

/**
 * Files of a few lines that one neighbour alone imports, and why each is a concept of its own nevertheless. Those that are
 * loaded late, have tests at their path, or whose neighbour is long are not asked.
 */
const SMALL_BUT_WHOLE: Readonly<Record<string, string>> = {
  "command/common_passwords.txt": "a list",
  "edge/back_pressure.ts": "a workaround for the runtime, in the list of these",
  "pages/page.js": "a script of browsers",
  "resource/login.sh": "a script of users",
};

Deno.test("a file is a concept: what a neighbour alone needs and is a declaration stands there", async () => {
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
    if (await unlessAbsent(Deno.stat(own)) !== undefined) continue;
    if ((await Deno.readTextFile(join(SRC, one))).includes(`import("./${basename(file)}")`)) continue;
    const length = await lines(file);
    if (length <= 45 && length + await lines(one) <= 250) found.push(file);
  }
  const expected = Object.keys(SMALL_BUT_WHOLE).sort();
  assert.deepEqual(found.sort(), expected, "joins its only importer, or is in the list with a reason");
});

/** Rows of the table of doors on the architecture page: folder of `src/` and the tests that stand for its files. */
async function doors(): Promise<Map<string, readonly string[]>> {
  const page = await Deno.readTextFile(new URL("../docs/architecture.md", import.meta.url));
  const rows = page.matchAll(/^\| `([\w/]+)\/` +\| ((?:`[\w/]+_test\.ts`(?:, )?)+) +\|$/gm);
  return new Map(
    Array.from(rows, ([, folder = "", tests = ""]) => [folder, tests.match(/[\w/]+_test\.ts/g) ?? []]),
  );
}

/** Files that a file names; of a test that runs the program also the program. */
async function named(file: string): Promise<readonly string[]> {
  const text = await unlessAbsent(Deno.readTextFile(file)) ?? "";
  const found = [...STATEMENTS, /new URL\("([^"\n]+\.ts)"/g].flatMap((form) => [...text.matchAll(form)])
    .flatMap(([, name = ""]) => name.startsWith(".") ? join(dirname(file), name) : []);
  return /\bmain\.ts["`]/.test(text) ? [...found, join(SRC, "../main.ts")] : found;
}

Deno.test("each file has tests at its path, or the architecture page names the door of its folder, which reaches it", async () => {
  const table = await doors();
  const tests = new URL(".", import.meta.url).pathname;
  const names = new Map<string, Promise<readonly string[]>>();
  const reach = new Map<string, Set<string>>();
  const behind = async (folder: string) => {
    const known = reach.get(folder);
    if (known !== undefined) return known;
    const all = new Set<string>();
    for (const test of table.get(folder) ?? []) {
      assert(await unlessAbsent(Deno.stat(join(tests, test))), `docs/architecture.md: no tests/${test}`);
      all.add(join(tests, test));
    }
    for (const file of all) { // and what is added meanwhile
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
    const own = await unlessAbsent(Deno.stat(join(tests, file.replace(/\.ts$/, "_test.ts"))));
    if (own === undefined && !(await behind(dirname(file))).has(path)) bare.push(file);
  }
  assert.deepEqual(bare, []);
  const idle = [...table.keys()].filter((folder) => !reach.has(folder));
  assert.deepEqual(idle, [], "a door that nobody needs");
});

/** The door of the package, whose exports are for others than us. */
const PUBLIC = "service/mount.ts";

Deno.test("what src exports, somebody imports", async () => {
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

Deno.test("exportedNames() and importedNames() read declarations and imports of every form", () => {
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

Deno.test("data sessions are opened by files/ alone", async () => {
  const opened: string[] = [];
  for await (const path of sources()) {
    if (/\b(?:sessions|client)\.open\(/.test(await Deno.readTextFile(path))) opened.push(relative(SRC, path));
  }
  assert.deepEqual(opened, ["files/files.ts"]);
});
