import { dirname } from "node:path";
import { guardPage, type GuardResults, PROTECTING } from "./guard_page.ts";
import { GuardRemoval, type RemovedGuard } from "./guard_removal.ts";
import { type Imports } from "./imports.ts";
import { KNOWN_SURVIVORS, type KnownSurvivor } from "./known_survivors.ts";
import { guardsOf, type Mutant, mutated, withSwitches } from "./mutant.ts";
import { lineOf } from "./score_table.ts";
import { TreeCopy } from "./tree_copy.ts";

const CHECK_MS = 120_000;
/** Of tests that stand elsewhere, the nearest are asked about what those near a file miss. */
const FARTHER = 8;
/** These run the program in workers and other processes, where guards stay, or are not about the source alone. */
const NOT_ASKED =
  /^tests\/(?:attack|bench|broken|browser|build|campaign|demo|docs|faults|instances|long|mutate|real|system)\//;

/** Options of `deno task mutate --guards`. */
export interface GuardOptions {
  /** Folders and files below `src/`; without any, all that protect somebody. */
  readonly names: readonly string[];
  /** A commit: only files that have changed since are tried. */
  readonly changed?: string | undefined;
  /** Whether files are left out that have a good result for their present text and that of the tests near them. */
  readonly onlyNew: boolean;
  /** If any, these tests of the whole program, or those in these folders, are asked about what others did not notice. */
  readonly whole: readonly string[];
  /** How many copies work at once. */
  readonly jobs: number;
}

/**
 * Removes each guard once, one at a time, and keeps for each file how many removals the tests notice. Tests that do not end
 * in time notice nothing. The results of a folder are written as soon as all its guards were tried.
 * @returns Whether each guard that was tried was noticed or has a reason in `known_survivors.ts`.
 */
export async function tryGuards(root: string, imports: Imports, options: GuardOptions): Promise<boolean> {
  const results = new GuardFiles(root);
  const before = await results.read();
  const files = await chosenFiles(root, imports, options, before);
  if (options.whole.length > 0) {
    const isAsked = (path: string) =>
      path.endsWith("_test.ts") && options.whole.some((part) => path.startsWith(part));
    return await askWholeProgram(root, imports.files.filter(isAsked).sort(), files, before, results);
  }
  const folders = [...new Set(files.map((file) => dirname(file)))];
  let good = true;
  await Promise.all(Array.from({ length: Math.min(options.jobs, folders.length) }, async () => {
    await using tree = await TreeCopy.make();
    for (let folder = folders.shift(); folder !== undefined; folder = folders.shift()) {
      const inFolder = files.filter((file) => dirname(file) === folder);
      const tried = await new GuardFolder(root, imports, folder, inFolder).tryAll(tree);
      await results.keep(tried);
      for (const { survivors } of Object.values(tried)) {
        good &&= survivors.every((line) => line.includes(" — "));
      }
    }
  }));
  return good;
}

/** Files whose guards are to be tried, in their order. */
export async function chosenFiles(
  root: string,
  imports: Imports,
  { names, changed, onlyNew }: Pick<GuardOptions, "names" | "changed" | "onlyNew">,
  results: GuardResults,
): Promise<string[]> {
  const since = changed === undefined ? undefined : await changedSince(root, changed);
  const chosen = new Set<string>();
  for (const part of names.length > 0 ? names : PROTECTING) {
    const found = imports.files.filter((file) => file === part || file.startsWith(`${part}/`)).sort();
    if (found.length === 0) throw new Error(`found ${part}, expected a folder or a file of src`);
    for (const file of found) {
      if (since?.has(file) === false) continue;
      const result = onlyNew ? results[file] : undefined;
      const isDone = result?.survivors.every((line) => line.includes(" — ")) === true;
      if (isDone && result?.digest === await digestOf(root, imports, file)) continue;
      chosen.add(file);
    }
  }
  return [...chosen];
}

/** Files that differ from those of a commit, and those that git does not know yet. */
async function changedSince(root: string, commit: string): Promise<ReadonlySet<string>> {
  const files = new Set<string>();
  for (
    const args of [
      ["diff", "--name-only", "--relative", commit, "--", "src"],
      ["ls-files", "--others", "--exclude-standard", "src"],
    ]
  ) {
    const { success, stdout, stderr } = await new Deno.Command("git", { args, cwd: root }).output();
    if (!success) throw new Error(`git ${args[0]}: ${new TextDecoder().decode(stderr)}`);
    for (const file of new TextDecoder().decode(stdout).split("\n")) files.add(file);
  }
  return files;
}

interface Guard {
  readonly file: string;
  readonly mutant: Mutant;
  readonly known: KnownSurvivor | undefined;
}

/** The guards of files in one folder, which are tried together: their tests are loaded once. */
class GuardFolder {
  readonly #guards = new Map<string, Guard>();

  constructor(
    readonly root: string,
    readonly imports: Imports,
    readonly folder: string,
    readonly files: readonly string[],
  ) {}

  async tryAll(tree: TreeCopy): Promise<GuardResults> {
    const restore: (() => Promise<void>)[] = [];
    for (const file of this.files) {
      const text = await Deno.readTextFile(this.root + file);
      restore.push(await putSwitches(tree, file, text));
      for (const [at, mutant] of guardsOf(text).entries()) {
        this.#guards.set(`${file}#${at}`, { file, mutant, known: knownSurvivor(file, mutant) });
      }
    }
    const found = new Map<string, RemovedGuard>();
    const near = nearTests(this.imports, this.files);
    for (const tests of [near, fartherTests(this.imports, this.files, near)]) {
      const left = [...this.#guards].filter(([name, { known }]) =>
        known === undefined && found.get(name)?.noticedBy === undefined
      );
      if (left.length === 0 || tests.length === 0) continue;
      const removal = new GuardRemoval(tests, left.map(([name]) => name));
      for (const [name, now] of await removal.run(tree)) {
        const before = found.get(name);
        const reachedBy = (before?.reachedBy ?? 0) + now.reachedBy;
        found.set(name, { ...now, reachedBy, late: now.late || before?.late === true });
      }
      console.log(`${this.folder}: ${left.length} guards, ${tests.length} files of tests`);
      for (const test of removal.failing) console.error(`not asked, fails here with all guards: ${test}`);
    }
    for (const put of restore) await put();
    return await this.#results(tree, found);
  }

  async #results(tree: TreeCopy, found: ReadonlyMap<string, RemovedGuard>): Promise<GuardResults> {
    const results: GuardResults = {};
    const needed = await neededByTypes(
      tree,
      [...this.#guards].filter(([name, { known }]) =>
        known === undefined && found.get(name)?.noticedBy === undefined
      ),
    );
    for (const file of this.files) {
      const guards = [...this.#guards].filter(([, guard]) => guard.file === file);
      const survivors: string[] = [];
      let byTests = 0;
      let byCompiler = 0;
      for (const [name, guard] of guards) {
        const { noticedBy, reachedBy = 0, late = false } = found.get(name) ?? {};
        const who = noticedBy ?? (needed.has(name) ? "types" : undefined);
        console.log(
          `${who ?? (guard.known === undefined ? "SURVIVED" : "known")} <= ${file}:${guard.mutant.line} ` +
            `${guard.mutant.change} (true in ${reachedBy} tests${late ? ", hangs" : ""})`,
        );
        if (noticedBy !== undefined) byTests += 1;
        else if (who !== undefined) byCompiler += 1;
        else survivors.push(lineOf(guard));
      }
      const digest = await digestOf(this.root, this.imports, file);
      const day = new Date().toISOString().slice(0, 10);
      results[file] = { day, digest, guards: guards.length, byTests, byCompiler, survivors };
    }
    return results;
  }
}

/** Files of tests that are loaded into one process: each starts the whole program. */
const AT_ONCE = 12;

/**
 * Has tests of the whole program notice the guards that survive without reason according to the results.
 * @returns Whether none is left.
 */
async function askWholeProgram(
  root: string,
  tests: readonly string[],
  files: readonly string[],
  before: GuardResults,
  results: GuardFiles,
): Promise<boolean> {
  await using tree = await TreeCopy.make();
  // Services run in the process of the tests, whose workers take part.
  const services = "tests/system/running_service.ts";
  const inProcess = (await Deno.readTextFile(root + services)).replaceAll(
    /(runWith\(|site, )startProcess/g,
    "$1startHere",
  );
  await tree.change(services, inProcess);
  const guards = new Map<string, Guard>();
  for (const file of files) {
    const text = await Deno.readTextFile(root + file);
    await putSwitches(tree, file, text);
    for (const [at, mutant] of guardsOf(text).entries()) {
      const guard = { file, mutant, known: knownSurvivor(file, mutant) };
      if (guard.known === undefined && before[file]?.survivors.includes(lineOf(guard))) {
        guards.set(`${file}#${at}`, guard);
      }
    }
  }
  for (let at = 0; at < tests.length && guards.size > 0; at += AT_ONCE) {
    const removal = new GuardRemoval(tests.slice(at, at + AT_ONCE), [...guards.keys()]);
    const now: GuardResults = {};
    for (const [name, { noticedBy, reachedBy }] of await removal.run(tree)) {
      const guard = guards.get(name);
      const kept = guard && (now[guard.file] ?? before[guard.file]);
      if (guard === undefined || kept === undefined || reachedBy === 0) continue;
      console.log(`${noticedBy ?? "-"} <= ${guard.file}:${guard.mutant.line} (true in ${reachedBy} tests)`);
      if (noticedBy === undefined) continue;
      guards.delete(name);
      const survivors = kept.survivors.filter((line) => line !== lineOf(guard));
      now[guard.file] = { ...kept, byTests: kept.byTests + 1, survivors };
    }
    Object.assign(before, now);
    await results.keep(now);
    console.log(`${guards.size} left after ${at + AT_ONCE} of ${tests.length} files of tests`);
  }
  return guards.size === 0;
}

/** Puts switches into a file of the copy, which workers of the program take part in. @returns What puts it back. */
async function putSwitches(tree: TreeCopy, file: string, text: string): Promise<() => Promise<void>> {
  const top = "../".repeat(file.split("/").length - 1);
  const switched = withSwitches(text, (at) => `${file}#${at}`);
  return await tree.change(file, `import "${top}tests/mutate/guard_switch.ts"; ${switched}`);
}

function knownSurvivor(file: string, { at, change }: Mutant): KnownSurvivor | undefined {
  return KNOWN_SURVIVORS.find((known) => known.file === file && known.at === at && known.change === change);
}

/**
 * Returns the names of guards that the compiler misses: what follows needs what the guard tells of a type. Each is removed in a
 * file of its own beside the original, so that one run of the compiler tells of all.
 */
async function neededByTypes(
  tree: TreeCopy,
  guards: readonly (readonly [string, Guard])[],
): Promise<Set<string>> {
  if (guards.length === 0) return new Set();
  const variants = new Map<string, string>();
  const write = async (file: string, as: string, change: (text: string) => string) => {
    const path = file.replace(/\.ts$/, `.${as}.ts`);
    await tree.change(path, change(await Deno.readTextFile(`${tree.folder}/${file}`)));
    return path;
  };
  for (const [name, { file, mutant }] of guards) {
    const remove = (text: string) => {
      // Not `false`: what follows that is never reached, and is no longer checked as it was.
      const replacement = `(${text.slice(mutant.start, mutant.end)}) && Boolean()`;
      return mutated(text, { ...mutant, replacement });
    };
    variants.set(name, await write(file, `guard${variants.size}`, remove));
  }
  // A copy of a file may have errors of its own: classes of the same name are different ones.
  const copies = new Map<string, string>();
  for (const file of new Set(guards.map(([, { file }]) => file))) {
    copies.set(file, await write(file, "copy", (text) => text));
  }
  const paths = [...variants.values(), ...copies.values()];
  const { output } = await tree.check(paths, CHECK_MS);
  for (const path of paths) await Deno.remove(`${tree.folder}/${path}`);
  const fails = (path = "") => output.includes(`/${path}:`);
  return new Set(
    guards.filter(([name, { file }]) => fails(variants.get(name)) && !fails(copies.get(file))).map(([name]) =>
      name
    ),
  );
}

/** Tests in the folder that mirrors the files', and others that load one of them directly. */
function nearTests(imports: Imports, files: readonly string[]): string[] {
  const distances = distancesOf(imports, files);
  const stands = (test: string) =>
    files.some((file) => dirname(test) === dirname(file).replace(/^src\b/, "tests"));
  const tests = distances.filter(([test, distance]) => stands(test) || distance === 1).map(([test]) => test);
  return [...tests.filter(stands), ...tests.filter((test) => !stands(test))];
}

function fartherTests(imports: Imports, files: readonly string[], near: readonly string[]): string[] {
  return distancesOf(imports, files).map(([test]) => test).filter((test) => !near.includes(test)).slice(
    0,
    FARTHER,
  );
}

/** Tests that load one of the files, the nearest first. */
function distancesOf(imports: Imports, files: readonly string[]): [test: string, distance: number][] {
  const distances = new Map<string, number>();
  for (const file of files) {
    for (const [test, distance] of imports.testsOf(file)) {
      if (!NOT_ASKED.test(test)) distances.set(test, Math.min(distance, distances.get(test) ?? Infinity));
    }
  }
  return [...distances].sort(([, a], [, b]) => a - b);
}

/** SHA-256 of a file and of the tests near it, the first half of it in hexadecimal digits. */
export async function digestOf(root: string, imports: Imports, file: string): Promise<string> {
  const texts: string[] = [];
  for (const path of [file, ...nearTests(imports, [file])]) texts.push(await Deno.readTextFile(root + path));
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(texts.join("\0")));
  return new Uint8Array(digest).toHex().slice(0, 32);
}

/** Gives survivors of earlier runs the reasons that are known by now. */
async function explained(root: string, results: GuardResults): Promise<GuardResults> {
  for (const [file, result] of Object.entries(results)) {
    if (result.survivors.every((line) => line.includes(" — "))) continue;
    const guards = guardsOf(await Deno.readTextFile(root + file));
    const survivors = result.survivors.map((line) => {
      const mutant = guards.find((mutant) => lineOf({ file, mutant, known: undefined }) === line);
      return mutant === undefined ? line : lineOf({ file, mutant, known: knownSurvivor(file, mutant) });
    });
    results[file] = { ...result, survivors };
  }
  return results;
}

/** The results in `tests/reports/guards.json`, and their page. */
class GuardFiles {
  readonly #data: string;
  #writing = Promise.resolve();

  constructor(readonly root: string) {
    this.#data = `${root}tests/reports/guards.json`;
  }

  async read(): Promise<GuardResults> {
    return JSON.parse(await Deno.readTextFile(this.#data));
  }

  /** Puts results in the place of earlier ones; those of files that are gone go. */
  async keep(tried: GuardResults): Promise<void> {
    this.#writing = this.#writing.then(async () => {
      const all = Object.entries({ ...await this.read(), ...tried }).sort(([a], [b]) => a < b ? -1 : 1);
      const there = await Promise.all(
        all.map(([file]) => Deno.stat(this.root + file).then(() => true, () => false)),
      );
      const results = await explained(this.root, Object.fromEntries(all.filter((_, at) => there[at])));
      await Deno.writeTextFile(this.#data, `${JSON.stringify(results, undefined, 1)}\n`);
      await Deno.writeTextFile(`${this.root}tests/reports/guards.md`, guardPage(results));
    });
    await this.#writing;
  }
}
