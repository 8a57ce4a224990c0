import type { Imports } from "./imports.ts";
import type { Scores } from "./reports.ts";
import { folderOf, unexplained } from "./score.ts";
import { testsInOrder } from "./tests_of.ts";

/** Folders and files with code that protects users, servers or the service. */
export const PROTECTING: readonly string[] = [
  "src/attributes",
  "src/authentication",
  "src/daemon/encode_command.ts",
  "src/edge",
  "src/model/answer_cache.ts",
  "src/model/json_object.ts",
  "src/model/trust",
  "src/outgoing",
  "src/resource",
  "src/files",
  "src/sharing",
  "src/throttling",
];

/** Selection of code to try. */
export interface Choice {
  /** Whether to remove guards, instead of a sample of all mutants. */
  readonly guards: boolean;
  /** Folders and files below `src/`; an empty list chooses all folders, or `PROTECTING` for guards. */
  readonly names: readonly string[];
  /** Files to choose from; absent: all. */
  readonly changed?: ReadonlySet<string> | undefined;
  /** Whether to skip groups that have a good result for their present text. */
  readonly onlyNew: boolean;
}

/** Files of `src` with a common score: a folder for a sample of mutants, or one file for removed guards. */
export interface Group {
  readonly path: string;
  readonly files: readonly string[];
  /** Whether these are all files of the path; only then is the score written. */
  readonly whole: boolean;
  readonly digest: string;
}

/** Returns the chosen groups, in order. @throws {Error} If a name is neither a folder nor a file. */
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

/** Returns files that differ from a commit, and untracked files. */
export async function changedSince(root: string, commit: string): Promise<ReadonlySet<string>> {
  const changed = await git(root, "diff", "--name-only", "--relative", commit, "--", "src");
  const added = await git(root, "ls-files", "--others", "--exclude-standard", "src");
  return new Set([...changed.split("\n"), ...added.split("\n")]);
}

/** Runs git in a folder and returns its output. */
export async function git(root: string, ...args: readonly string[]): Promise<string> {
  const { success, stdout, stderr } = await new Deno.Command("git", { args: [...args], cwd: root }).output();
  if (!success) throw new Error(`git ${args[0]}: ${new TextDecoder().decode(stderr)}`);
  return new TextDecoder().decode(stdout).trim();
}

/** Returns the first half of the SHA-256 of files and their folders' own tests, in hexadecimal digits. */
async function digestOf(root: string, imports: Imports, files: readonly string[]): Promise<string> {
  const tests = new Set(files.flatMap((file) => testsInOrder(imports, file).own.flat()));
  const texts: string[] = [];
  for (const path of [...files, ...[...tests].sort()]) texts.push(await Deno.readTextFile(root + path));
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(texts.join("\0")));
  return new Uint8Array(digest).toHex().slice(0, 32);
}
