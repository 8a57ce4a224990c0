import type { KnownSurvivor } from "./known_survivors.ts";
import type { Mutant } from "./mutant.ts";

/** Who noticed a mutant: tests of its folder, the compiler, tests of other folders. */
export type KilledBy = "own" | "types" | "others";

/** What became of a mutant. */
export interface Trial {
  readonly file: string;
  readonly mutant: Pick<Mutant, "kind" | "line" | "change">;
  /** Absent if nobody noticed. */
  readonly killedBy?: KilledBy;
  readonly known: KnownSurvivor | undefined;
}

/** What became of the mutants of a folder that were tried. */
export interface FolderScore {
  /** Those that are not equivalent. */
  readonly tried: number;
  /** Of these, those killed by the folder's own tests or the compiler. */
  readonly own: number;
  /** Of these, those killed by anything; absent if tests of other folders were not asked about those left. */
  readonly killed?: number;
  /** Those that nobody killed, as lines of Markdown: equivalent ones, and others. */
  readonly equivalent: readonly string[];
  readonly survivors: readonly string[];
}

/** Share of those that are not equivalent which must be killed, in each folder; and by its own tests or the compiler. */
export const PROMISED = { all: 0.95, own: 0.85 };

/** The folder of `src` that a file is in. */
export function folderOf(file: string): string {
  return file.split("/")[1] ?? "";
}

/** Counts what became of the mutants of a folder. */
export function folderScore(
  trials: readonly Trial[],
  folder: string,
  { onlyOwn }: { readonly onlyOwn: boolean },
): FolderScore {
  const all = trials.filter(({ file }) => folderOf(file) === folder);
  const counted = all.filter(({ known }) => known?.equivalent !== true);
  const lines = (list: readonly Trial[]) => list.filter(({ killedBy }) => killedBy === undefined).map(lineOf);
  const survivors = lines(counted).sort();
  return {
    tried: counted.length,
    own: counted.filter(({ killedBy }) => killedBy === "own" || killedBy === "types").length,
    ...((!onlyOwn || survivors.length === 0) && { killed: counted.length - survivors.length }),
    equivalent: lines(all.filter((trial) => !counted.includes(trial))).sort(),
    survivors,
  };
}

/**
 * A table of folders and a list of survivors, in Markdown.
 * @param onlyOwn Whether tests of other folders were not asked.
 * @returns Also whether every survivor has a reason, and every folder what is promised.
 */
export function scoreTable(
  trials: readonly Trial[],
  { onlyOwn }: { onlyOwn: boolean },
): { text: string; good: boolean } {
  const scores = [...new Set(trials.map(({ file }) => folderOf(file)))].sort()
    .map((folder) => ({ folder, ...folderScore(trials, folder, { onlyOwn }) }));
  const rows = scores.map(({ folder, tried, own, killed }) =>
    `| ${folder} | ${tried} | ${percent(own, tried)} | ${percent(killed, tried)} |`
  );
  const survivors = scores.flatMap(({ equivalent, survivors }) => [...equivalent, ...survivors]);
  const text = [
    "",
    "| Folder | Mutants | Killed by its own tests | Killed |",
    "|---|---|---|---|",
    ...rows,
    "",
    ...(survivors.length > 0 ? ["Survivors:", "", ...survivors] : ["No survivors."]),
  ].join("\n");
  const explained = trials.every(({ killedBy, known }) => killedBy !== undefined || known !== undefined);
  const enough = scores.every(({ tried, own, killed }) =>
    own >= PROMISED.own * tried && (killed === undefined || killed >= PROMISED.all * tried)
  );
  return { text, good: enough && (onlyOwn || explained) };
}

/** A share as people read it, rounded down; of nothing it is all. Empty if it is not known. */
export function percent(part: number | undefined, whole: number): string {
  if (part === undefined) return "";
  return `${whole === 0 ? 100 : Math.floor((100 * part) / whole)} %`;
}

/** What became of a mutant that nobody killed, as a line of Markdown, with the reason if one is known. */
export function lineOf({ file, mutant, known }: Trial): string {
  const reason = known === undefined ? "" : ` — ${known.equivalent ? "equivalent: " : ""}${known.why}`;
  return `- \`${file}:${mutant.line}\` ${mutant.kind}: \`${mutant.change}\`${reason}`;
}
