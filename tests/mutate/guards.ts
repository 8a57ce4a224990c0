import { Imports } from "./imports.ts";
import { Killer } from "./killer.ts";
import { KNOWN_SURVIVORS } from "./known_survivors.ts";
import { guardPage, type GuardResults, PROTECTING } from "./guard_page.ts";
import { guardsOf, type Mutant, mutated } from "./mutant.ts";
import { lineOf } from "./score_table.ts";
import { TreeCopy } from "./tree_copy.ts";

const ROOT = new URL("../../", import.meta.url).pathname;
const DATA = `${ROOT}tests/reports/guards.json`;
const PAGE = `${ROOT}tests/reports/guards.md`;

/** Options of `deno task mutate --guards`. */
export interface GuardOptions {
  /** Folders and files below `src/`; without any, all that protect somebody. */
  readonly names: readonly string[];
  /** A commit: only files that have changed since are tried. */
  readonly changed?: string | undefined;
  /** Whether files are left out whose present text has a result. */
  readonly onlyNew: boolean;
  /** Whether only the tests in the folder that mirrors the file's, those asked first, and the compiler are asked. */
  readonly near: boolean;
  /** Tests that are asked before others. */
  readonly first: readonly string[];
  /** No guard is begun after this many minutes. */
  readonly minutes: number;
}

/**
 * Removes each guard once, one at a time, and keeps for each file how many removals the tests notice. Tests that do not end
 * in time notice nothing. The result of a file is written as soon as all its guards were tried.
 * @returns Whether each guard that was tried was noticed or has a reason in `known_survivors.ts`.
 */
export async function tryGuards(options: GuardOptions): Promise<boolean> {
  const imports = await Imports.of(ROOT);
  const killer = new Killer(imports, { onlyOwn: false, lateIsUnnoticed: true, ...options });
  const until = Date.now() + options.minutes * 60_000;
  let good = true;
  await using tree = await TreeCopy.make();
  for (const file of await chosenFiles(imports.files, options)) {
    const text = await Deno.readTextFile(ROOT + file);
    const tried: Guard[] = [];
    const guards = guardsOf(text);
    for (const guard of guards) {
      if (Date.now() >= until) break;
      const known = KNOWN_SURVIVORS.find((survivor) =>
        survivor.file === file && survivor.at === guard.at && survivor.change === guard.change
      );
      const noticedBy = known === undefined ? await killer.kill(tree, file, mutated(text, guard)) : undefined;
      tried.push({ guard, noticedBy, line: lineOf({ file, mutant: guard, known }) });
      console.log(
        `${noticedBy ?? (known === undefined ? "SURVIVED" : "known")} ${file}:${guard.line} ${guard.change}`,
      );
      if (noticedBy === undefined && known === undefined) good = false;
    }
    if (tried.length < guards.length) {
      console.log(`no time left: stopped in ${file}, after ${tried.length} of ${guards.length} guards`);
      break;
    }
    await keep(file, text, tried, options.near);
  }
  return good;
}

interface Guard {
  readonly guard: Mutant;
  readonly noticedBy: string | undefined;
  readonly line: string;
}

async function chosenFiles(files: readonly string[], options: GuardOptions): Promise<string[]> {
  const { names, changed, onlyNew } = options;
  const parts = names.length > 0 ? names : PROTECTING;
  const results = onlyNew ? await readResults() : {};
  const since = changed === undefined ? undefined : await changedSince(changed);
  const chosen: string[] = [];
  for (const part of parts) {
    const found = files.filter((file) => file === part || file.startsWith(`${part}/`)).sort();
    if (found.length === 0) throw new Error(`found ${part}, expected a folder or a file of src`);
    for (const file of found) {
      if (chosen.includes(file) || since?.has(file) === false) continue;
      if (results[file]?.digest === await digestOf(await Deno.readTextFile(ROOT + file))) continue;
      chosen.push(file);
    }
  }
  return chosen;
}

/** Files that differ from those of a commit, and those that git does not know yet. */
async function changedSince(commit: string): Promise<ReadonlySet<string>> {
  const lists = [["diff", "--name-only", commit, "--", "src"], [
    "ls-files",
    "--others",
    "--exclude-standard",
    "src",
  ]];
  const files = new Set<string>();
  for (const args of lists) {
    const { success, stdout, stderr } = await new Deno.Command("git", { args, cwd: ROOT }).output();
    if (!success) throw new Error(`git ${args[0]}: ${new TextDecoder().decode(stderr)}`);
    for (const file of new TextDecoder().decode(stdout).split("\n")) files.add(file);
  }
  return files;
}

async function keep(file: string, text: string, tried: readonly Guard[], near: boolean): Promise<void> {
  const results = await readResults();
  results[file] = {
    day: new Date().toISOString().slice(0, 10),
    digest: await digestOf(text),
    guards: tried.length,
    byTests: tried.filter(({ noticedBy }) => noticedBy === "own" || noticedBy === "others").length,
    byCompiler: tried.filter(({ noticedBy }) => noticedBy === "types").length,
    onlyNear: near,
    survivors: tried.filter(({ noticedBy }) => noticedBy === undefined).map(({ line }) => line),
  };
  const sorted = Object.fromEntries(Object.entries(results).sort(([a], [b]) => a < b ? -1 : 1));
  await Deno.mkdir(`${ROOT}tests/reports`, { recursive: true });
  await Deno.writeTextFile(DATA, `${JSON.stringify(sorted, undefined, 1)}\n`);
  await Deno.writeTextFile(PAGE, guardPage(sorted));
}

async function readResults(): Promise<GuardResults> {
  try {
    return JSON.parse(await Deno.readTextFile(DATA));
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return {};
    throw error;
  }
}

/** SHA-256 of a text, the first half of it in hexadecimal digits. */
async function digestOf(text: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return new Uint8Array(digest).toHex().slice(0, 32);
}
