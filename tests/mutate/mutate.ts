/**
 * `deno task mutate [--seed N] [--count N | --all] [--own] [--jobs N] [FOLDER|FILE...]`: puts one small mistake after the
 * other into a copy of the source and looks whether a test notices. Asked are first the tests of the folder that load the
 * mutated file, the nearest first, then the compiler, then all others, the nearest first. Prints a table and the
 * survivors; ends with 1 if one has no reason in `known_survivors.ts`, or if a folder is below what is promised.
 */
import { parseArgs } from "node:util";
import { Imports } from "./imports.ts";
import { KNOWN_SURVIVORS } from "./known_survivors.ts";
import { type Mutant, mutantsOf, mutated } from "./mutant.ts";
import { folderOf, scoreTable, type Trial } from "./score_table.ts";
import { seededSample } from "./seeded_sample.ts";
import { TreeCopy } from "./tree_copy.ts";

const ROOT = new URL("../../", import.meta.url).pathname;
/** Of what a folder's tests take unharmed, how much a mutant may take, and how long at least in milliseconds. */
const PATIENCE = { times: 4, atLeastMs: 30_000 };
const CHECK_MS = 120_000;
/** Tests of other folders are run in parts, so that the nearest can spare the rest; each part twice as large. */
const FIRST_PART = 4;

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    seed: { type: "string", default: "1" },
    count: { type: "string", default: "20" },
    all: { type: "boolean", default: false },
    own: { type: "boolean", default: false },
    jobs: { type: "string", default: String(Math.max(1, navigator.hardwareConcurrency >> 1)) },
  },
});

interface Found {
  readonly file: string;
  readonly text: string;
  readonly mutant: Mutant;
}

const imports = await Imports.of(ROOT);
const sources = imports.files.filter((file) => file.startsWith("src/"));
const wanted = positionals.map((name) => name.replace(/\/$/, "").replace(/^(?!src\/)/, "src/"));
const unknown = wanted.filter((name) => !sources.some((file) => isIn(file, name)));
if (unknown.length > 0) {
  console.error(`mutate: found ${unknown.join(", ")}, expected folders or files of src`);
  Deno.exit(2);
}
const chosen: Found[] = [];
const parts = wanted.length > 0
  ? wanted
  : [...new Set(sources.map((file) => `src/${folderOf(file)}`))].sort();
for (const part of parts) {
  const all: Found[] = [];
  for (const file of sources.filter((file) => isIn(file, part)).sort()) {
    const text = await Deno.readTextFile(ROOT + file);
    for (const mutant of mutantsOf(text)) all.push({ file, text, mutant });
  }
  chosen.push(...(options.all ? all : seededSample(all, Number(options.count), Number(options.seed))));
}
console.log(`${chosen.length} mutants, seed ${options.seed}, ${options.jobs} at once`);

/** How long tests take unharmed, in milliseconds, by their names; `undefined` if they fail. */
const unharmed = new Map<string, Promise<number | undefined>>();
const trials: Trial[] = [];
const queue = [...chosen];
await Promise.all(Array.from({ length: Number(options.jobs) }, async () => {
  await using tree = await TreeCopy.make();
  for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
    const trial = await tryOut(tree, next);
    trials.push(trial);
    const { mutant, file } = next;
    console.log(
      `${trials.length}/${chosen.length} ${
        trial.killedBy ?? "SURVIVED"
      } ${file}:${mutant.line} ${mutant.kind}: ${mutant.change}`,
    );
  }
}));
const { text, good } = scoreTable(trials, { onlyOwn: options.own });
console.log(text);
if (!good) Deno.exitCode = 1;

async function tryOut(tree: TreeCopy, { file, text, mutant }: Found): Promise<Trial> {
  const known = KNOWN_SURVIVORS.find(({ file: path, at, change }) =>
    path === file && at === mutant.at && change === mutant.change
  );
  const trial = { file, mutant, known };
  if (known?.equivalent) return trial;
  const near = imports.testsOf(file);
  const folder = `tests/${folderOf(file)}/`;
  const own = near.filter(([path]) => path.startsWith(folder));
  const direct = own.filter(([, distance]) => distance === 1);
  const indirect = own.filter(([, distance]) => distance > 1);
  for (const tests of [direct, indirect].map((list) => list.map(([path]) => path))) {
    if (await notice(tree, tests, file, mutated(text, mutant))) return { ...trial, killedBy: "own" };
  }
  const restore = await tree.change(file, mutated(text, mutant));
  const checked = await tree.checks(file, CHECK_MS);
  await restore();
  if (!checked) return { ...trial, killedBy: "types" };
  if (options.own) return trial;
  const others = near.map(([path]) => path).filter((path) => !path.startsWith(folder));
  for (let size = FIRST_PART; others.length > 0; size *= 2) {
    if (await notice(tree, others.splice(0, size), file, mutated(text, mutant))) {
      return { ...trial, killedBy: "others" };
    }
  }
  return trial;
}

/** Whether tests that pass on the source as it is fail with a mutant. */
async function notice(
  tree: TreeCopy,
  tests: readonly string[],
  file: string,
  text: string,
): Promise<boolean> {
  if (tests.length === 0) return false;
  const key = tests.join(" ");
  const first = unharmed.get(key) ?? tree.test(tests, 600_000).then(({ passed, ms, output }) => {
    if (!passed) console.error(`These tests fail on the source as it is: ${key}\n${output.slice(-2000)}`);
    return passed ? ms : undefined;
  });
  unharmed.set(key, first);
  const usual = await first;
  if (usual === undefined) return false;
  const restore = await tree.change(file, text);
  try {
    const { passed } = await tree.test(tests, Math.max(PATIENCE.atLeastMs, PATIENCE.times * usual), {
      failFast: true,
    });
    return !passed;
  } finally {
    await restore();
  }
}

function isIn(file: string, part: string): boolean {
  return file === part || file.startsWith(`${part}/`);
}
