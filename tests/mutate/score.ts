import type { KilledBy } from "./killer.ts";
import type { KnownSurvivor } from "./known_survivors.ts";
import type { Mutant } from "./mutant.ts";

/** Result for one mutant. */
export interface Trial {
  readonly file: string;
  readonly mutant: Pick<Mutant, "kind" | "line" | "change">;
  /** Absent if no test and no compiler noticed. */
  readonly killedBy?: KilledBy | undefined;
  readonly known: KnownSurvivor | undefined;
}

/** Results for mutants that were tried together: a sample of a folder, or the guards of a file. */
export interface Score {
  /** Number of mutants that are not equivalent. */
  readonly tried: number;
  /** Number of these that the folder's own tests or the compiler killed. */
  readonly own: number;
  /** Number of these that any test or the compiler killed; absent if some were tried with own tests alone. */
  readonly killed?: number;
  /** Mutants that no test killed, as lines of Markdown: equivalent mutants, and others. */
  readonly equivalent: readonly string[];
  readonly survivors: readonly string[];
}

/** Share of a folder's mutants that all tests must kill, and that own tests or the compiler must kill. */
export const PROMISED = { all: 0.95, own: 0.85 };

/** Returns the folder of `src` that a file is in. */
export function folderOf(file: string): string {
  return file.split("/")[1] ?? "";
}

/** Counts results of mutants. @param onlyOwn Whether tests of other folders did not run. */
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

/** Returns survivors without a reason, as lines of Markdown. */
export function unexplained({ survivors }: Pick<Score, "survivors">): string[] {
  return survivors.filter((line) => !line.includes(" — "));
}

/** Returns a share in percent, rounded down: 100 % if `whole` is 0, empty if `part` is not known. */
export function percent(part: number | undefined, whole: number): string {
  if (part === undefined) return "";
  return `${whole === 0 ? 100 : Math.floor((100 * part) / whole)} %`;
}

/** Returns a line of Markdown for a mutant that no test killed, with the reason if it is known. */
function lineOf({ file, mutant, known }: Trial): string {
  const reason = known === undefined ? "" : ` — ${known.equivalent ? "equivalent: " : ""}${known.why}`;
  return `- \`${file}:${mutant.line}\` ${mutant.kind}: \`${mutant.change}\`${reason}`;
}
