import type { Imports } from "./imports.ts";
import type { Scores } from "./reports.ts";
import { folderOf, unexplained } from "./score.ts";
import { testsInOrder } from "./tests_of.ts";

/** Folders and files whose code protects somebody. */
export const PROTECTING: readonly string[] = [
  "src/attributes",
  "src/authentication",
  "src/daemon/encode_command.ts",
  "src/edge",
  "src/model/trust",
  "src/outgoing",
  "src/resource",
  "src/files",
  "src/sharing",
  "src/throttling",
];

/** What is to be tried. */
export interface Choice {
  /** Whether guards are tried, and not samples of all mutants. */
  readonly guards: boolean;
  /** Folders and files below `src/`; without any, all folders, or all that protect somebody. */
  readonly names: readonly string[];
  /** Only these files are tried. */
  readonly changed?: ReadonlySet<string> | undefined;
  /** Whether groups are left out that have a good result for their present text. */
  readonly onlyNew: boolean;
}

/** Files of `src` that have one score: a folder whose mutants a sample is drawn of, or one file whose guards are removed. */
export interface Group {
  readonly path: string;
  readonly files: readonly string[];
  /** Whether these are all files of the path, so that their score is worth keeping. */
  readonly whole: boolean;
  readonly digest: string;
}

/** Returns what is to be tried, in order. @throws {Error} If a name is neither a folder nor a file. */
export async function chosenGroups(
  root: string,
  imports: Imports,
  { guards, names, changed, onlyNew }: Choice,
  before: Scores,
): Promise<Group[]> {
  const sources = imports.files.filter((file) => file.startsWith("src/")).sort();
  const isIn = (path: string) => (file: string) => file === path || file.startsWith(`${path}/`);
  const wanted = names.length > 0 ? names : guards ? PROTECTING : ["src"];
  for (const name of wanted) {
    if (!sources.some(isIn(name))) throw new Error(`found ${name}, expected a folder or a file of src`);
  }
  const chosen = sources.filter((file) =>
    wanted.some((name) => isIn(name)(file)) && changed?.has(file) !== false
  );
  const groups: Group[] = [];
  for (const [path, files] of Map.groupBy(chosen, (file) => guards ? file : `src/${folderOf(file)}`)) {
    const all = sources.filter(isIn(path));
    const digest = await digestOf(root, imports, all);
    const score = onlyNew ? before[path] : undefined;
    if (score?.digest === digest && unexplained(score).length === 0) continue;
    groups.push({ path, files, whole: files.length === all.length, digest });
  }
  return groups;
}

/** Returns files that differ from those of a commit, and those that git does not know yet. */
export async function changedSince(root: string, commit: string): Promise<ReadonlySet<string>> {
  const changed = await git(root, "diff", "--name-only", "--relative", commit, "--", "src");
  const added = await git(root, "ls-files", "--others", "--exclude-standard", "src");
  return new Set([...changed.split("\n"), ...added.split("\n")]);
}

/** Runs git in a folder and returns what it prints. */
export async function git(root: string, ...args: readonly string[]): Promise<string> {
  const { success, stdout, stderr } = await new Deno.Command("git", { args: [...args], cwd: root }).output();
  if (!success) throw new Error(`git ${args[0]}: ${new TextDecoder().decode(stderr)}`);
  return new TextDecoder().decode(stdout).trim();
}

/** SHA-256 of files and of their folders' own tests, the first half of it in hexadecimal digits. */
async function digestOf(root: string, imports: Imports, files: readonly string[]): Promise<string> {
  const tests = new Set(files.flatMap((file) => testsInOrder(imports, file).own.flat()));
  const texts: string[] = [];
  for (const path of [...files, ...[...tests].sort()]) texts.push(await Deno.readTextFile(root + path));
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(texts.join("\0")));
  return new Uint8Array(digest).toHex().slice(0, 32);
}
