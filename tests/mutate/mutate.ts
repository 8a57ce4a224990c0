/**
 * `deno task mutate [--seed N] [--count N | --all] [--again] [--own] [--first TEST]... [--jobs N] [--after LOG]...
 * [FOLDER|FILE...]`: puts one small mistake after the other into a copy of the source and looks whether a test notices (`killer.ts`). Prints a table and the
 * survivors, and keeps both of whole folders in `tests/reports/mutation.md`; `--own` asks a folder's own tests alone.
 * `--again` tries those alone that survived according to that page, and puts their scores right.
 * `--first` names tests to be asked before others, where it is known which ones are likely to notice.
 * `--guards` removes each guard of what protects somebody instead (`guards.ts`), and keeps what it finds in
 * `tests/reports/guards.md`; `--changed COMMIT` tries only files changed since, `--new` only files whose text and near tests
 * have no result yet. `--whole TEST|FOLDER` asks tests of the whole program
 * about what others did not notice before.
 * What earlier runs found, whose output `--after` names, is taken from there; the source must be the same. Ends with 1 if a
 * survivor has no reason in `known_survivors.ts`, or if a folder is below what is promised.
 */
import { parseArgs } from "node:util";
import { tryGuards } from "./guards.ts";
import { Imports } from "./imports.ts";
import { Killer } from "./killer.ts";
import { KNOWN_SURVIVORS } from "./known_survivors.ts";
import { type Mutant, mutantsOf, mutated } from "./mutant.ts";
import { type Kept, mutationPage } from "./mutation_page.ts";
import {
  folderOf,
  type FolderScore,
  folderScore,
  type KilledBy,
  scoreTable,
  type Trial,
} from "./score_table.ts";
import { seededSample } from "./seeded_sample.ts";
import { TreeCopy } from "./tree_copy.ts";
import { findAgain, listedIn, triedAgain } from "./tried_again.ts";

const ROOT = new URL("../../", import.meta.url).pathname;
const DATA = `${ROOT}tests/reports/mutation.json`;
const PAGE = `${ROOT}tests/reports/mutation.md`;

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    seed: { type: "string", default: "1" },
    count: { type: "string", default: "35" },
    all: { type: "boolean", default: false },
    again: { type: "boolean", default: false },
    own: { type: "boolean", default: false },
    guards: { type: "boolean", default: false },
    changed: { type: "string" },
    new: { type: "boolean", default: false },
    whole: { type: "string", multiple: true, default: [] },
    first: { type: "string", multiple: true, default: [] },
    after: { type: "string", multiple: true, default: [] },
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
const folders = [...new Set(sources.map((file) => `src/${folderOf(file)}`))].sort();
const wanted = positionals.map((name) => name.replace(/\/$/, "").replace(/^(?!src\/)/, "src/"));
const unknown = wanted.filter((name) => !sources.some((file) => isIn(file, name)));
if (unknown.length > 0) {
  console.error(`mutate: found ${unknown.join(", ")}, expected folders or files of src`);
  Deno.exit(2);
}
if (options.guards) {
  const { changed, new: onlyNew, whole, jobs } = options;
  const good = await tryGuards(ROOT, imports, { names: wanted, changed, onlyNew, whole, jobs: Number(jobs) });
  Deno.exit(good ? 0 : 1);
}
const before: Kept = await Deno.readTextFile(DATA).then(JSON.parse, () => ({}));
/** How many mutants a part of the source has. */
const sizes = new Map<string, number>();
const chosen: Found[] = [];
for (const part of wanted.length > 0 ? wanted : folders) {
  const all = await mutantsIn(part);
  sizes.set(part, all.length);
  const keyOf = ({ file, mutant: { at, change } }: Found) => `${file} ${at} ${change}`;
  if (options.again) chosen.push(...survivorsAmong(all, before[folderOf(`${part}/`)]));
  else {chosen.push(
      ...(options.all ? all : seededSample(all, Number(options.count), Number(options.seed), keyOf)),
    );}
}
console.log(`${chosen.length} mutants, seed ${options.seed}, ${options.jobs} at once`);

/** What became of mutants in earlier runs, by file, line and change. */
const earlier = new Map<string, KilledBy | undefined>();
const OUTCOME = /^\d+\/\d+ (own|types|others|SURVIVED) (\S+) \w+: (.*)$/gm;
for (const log of options.after) {
  for (const [, killer, place, change] of (await Deno.readTextFile(log)).matchAll(OUTCOME)) {
    const killedBy = killer === "own" || killer === "types" || killer === "others" ? killer : undefined;
    earlier.set(`${place} ${change}`, killedBy);
  }
}

const trials: Trial[] = [];
const killer = new Killer(imports, { onlyOwn: options.own, first: options.first });
const queue = [...chosen];
await Promise.all(Array.from({ length: Number(options.jobs) }, async () => {
  await using tree = await TreeCopy.make();
  for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
    const trial = await tryOut(tree, next);
    trials.push(trial);
    const { mutant: { line, kind, change }, file, known } = trial;
    const outcome = trial.killedBy ?? (known?.equivalent ? "equivalent" : "SURVIVED");
    console.log(`${trials.length}/${chosen.length} ${outcome} ${file}:${line} ${kind}: ${change}`);
  }
}));
const { text, good } = scoreTable(trials, { onlyOwn: options.own });
console.log(text);
await keep();
if (!good) Deno.exitCode = 1;

async function mutantsIn(part: string): Promise<Found[]> {
  const found: Found[] = [];
  for (const file of sources.filter((file) => isIn(file, part)).sort()) {
    const text = await Deno.readTextFile(ROOT + file);
    for (const mutant of mutantsOf(text)) found.push({ file, text, mutant });
  }
  return found;
}

function survivorsAmong(all: readonly Found[], score: FolderScore | undefined): Found[] {
  return (score === undefined ? [] : listedIn(score)).flatMap((listed) => {
    const inFile = all.filter(({ file }) => file === listed.file);
    const mutant = findAgain(listed, inFile.map(({ mutant }) => mutant));
    return inFile.filter((found) => found.mutant === mutant);
  });
}

async function tryOut(tree: TreeCopy, { file, text, mutant }: Found): Promise<Trial> {
  const known = KNOWN_SURVIVORS.find(({ file: path, at, change }) =>
    path === file && at === mutant.at && change === mutant.change
  );
  // They count as they are listed: of those that nobody kills all tests would be asked each time.
  if (known !== undefined) return { file, mutant, known };
  const place = `${file}:${mutant.line} ${mutant.change}`;
  const killedBy = earlier.has(place)
    ? earlier.get(place)
    : await killer.kill(tree, file, mutated(text, mutant));
  return { file, mutant, known, ...(killedBy !== undefined && { killedBy }) };
}

/** Writes the rows of the folders that were tried as a whole in the place of their earlier ones. */
async function keep(): Promise<void> {
  const kept: Kept = {};
  for (const folder of folders) {
    const name = folderOf(`${folder}/`);
    const row = rowOf(name, before[name], sizes.get(folder));
    if (row !== undefined) kept[name] = row;
  }
  await Deno.writeTextFile(DATA, `${JSON.stringify(kept, undefined, 1)}\n`);
  await Deno.writeTextFile(PAGE, mutationPage(kept));
  console.log(`written to tests/reports/mutation.md`);
}

/** @param mutants How many the folder has; absent if it was not tried as a whole. */
function rowOf(name: string, earlier: Kept[string] | undefined, mutants: number | undefined) {
  if (mutants === undefined) return earlier;
  const how = { onlyOwn: options.own };
  const day = new Date().toISOString().slice(0, 10);
  if (!options.again) {
    return { day, seed: Number(options.seed), mutants, ...folderScore(trials, name, how) };
  }
  if (earlier === undefined) return undefined;
  const { seed } = earlier;
  const ofFolder = trials.filter(({ file }) => folderOf(file) === name);
  return { day, seed, mutants, ...triedAgain(earlier, ofFolder, how) };
}

function isIn(file: string, part: string): boolean {
  return file === part || file.startsWith(`${part}/`);
}
