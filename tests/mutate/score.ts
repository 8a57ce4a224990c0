import type { KilledBy } from "./killer.ts";
import type { KnownSurvivor } from "./known_survivors.ts";
import type { Mutant } from "./mutant.ts";

/** What became of a mutant. */
export interface Trial {
  readonly file: string;
  readonly mutant: Pick<Mutant, "kind" | "line" | "change">;
  /** Absent if nobody noticed. */
  readonly killedBy?: KilledBy | undefined;
  readonly known: KnownSurvivor | undefined;
}

/** What became of mutants that were tried together: a sample of a folder, or the guards of a file. */
export interface Score {
  /** Mutants that are not equivalent. */
  readonly tried: number;
  /** Of these, those killed by the folder's own tests or the compiler. */
  readonly own: number;
  /** Of these, those killed by anything; absent if tests of other folders were not asked about those left. */
  readonly killed?: number;
  /** Mutants that nobody killed, as lines of Markdown: equivalent ones, and others. */
  readonly equivalent: readonly string[];
  readonly survivors: readonly string[];
}

/** Share of the mutants of each folder which must be killed; and by its own tests or the compiler. */
export const PROMISED = { all: 0.95, own: 0.85 };

/** Returns the folder of `src` that a file is in. */
export function folderOf(file: string): string {
  return file.split("/")[1] ?? "";
}

/** Counts what became of mutants. @param onlyOwn Whether tests of other folders were not asked. */
export function scoreOf(trials: readonly Trial[], onlyOwn: boolean): Score {
  const counted = trials.filter(({ known }) => known?.equivalent !== true);
  const lines = (list: readonly Trial[]) => list.filter(({ killedBy }) => killedBy === undefined).map(lineOf);
  const survivors = lines(counted).sort();
  return {
    tried: counted.length,
    own: counted.filter(({ killedBy }) => killedBy === "own" || killedBy === "types").length,
    ...((!onlyOwn || survivors.length === 0) && { killed: counted.length - survivors.length }),
    equivalent: lines(trials.filter((trial) => !counted.includes(trial))).sort(),
    survivors,
  };
}

/** Returns what is wrong with a score, in words: survivors without a reason. */
export function unexplained({ survivors }: Pick<Score, "survivors">): string[] {
  return survivors.filter((line) => !line.includes(" — "));
}

/** Returns a share as people read it, rounded down; of nothing it is all. Empty if it is not known. */
export function percent(part: number | undefined, whole: number): string {
  if (part === undefined) return "";
  return `${whole === 0 ? 100 : Math.floor((100 * part) / whole)} %`;
}

/** Returns what became of a mutant that nobody killed, as a line of Markdown, with the reason if one is known. */
function lineOf({ file, mutant, known }: Trial): string {
  const reason = known === undefined ? "" : ` — ${known.equivalent ? "equivalent: " : ""}${known.why}`;
  return `- \`${file}:${mutant.line}\` ${mutant.kind}: \`${mutant.change}\`${reason}`;
}
