import type { Mutant } from "./mutant.ts";
import { type FolderScore, lineOf, type Trial } from "./score_table.ts";

/** A mutant that survived an earlier run, as the page lists it. */
export interface Listed {
  readonly file: string;
  readonly line: number;
  readonly kind: string;
  readonly change: string;
}

const LINE = /^- `(.+?):(\d+)` (\w+): `(.*?)`(?: — .*)?$/;

/** The survivors of a score. */
export function listedIn({ survivors }: FolderScore): Listed[] {
  return survivors.map((line) => {
    const [, file, at, kind, change] = LINE.exec(line) ?? [];
    if (file === undefined || kind === undefined || change === undefined) {
      throw new Error(`found ${line}, expected a survivor with place, kind and change`);
    }
    return { file, line: Number(at), kind, change };
  });
}

/** That of the mutants of a file which was listed: of several with the same change the nearest to its line. */
export function findAgain<M extends Pick<Mutant, "line" | "kind" | "change">>(
  { line, kind, change }: Listed,
  mutants: readonly M[],
): M | undefined {
  return mutants.filter((mutant) => mutant.kind === kind && mutant.change === change)
    .sort((a, b) => Math.abs(a.line - line) - Math.abs(b.line - line))[0];
}

/**
 * A score when its survivors were tried again. Those that the source has no more do not count.
 * @param trials What became of those that it still has.
 * @param onlyOwn Whether tests of other folders were not asked.
 */
export function triedAgain(
  before: FolderScore,
  trials: readonly Trial[],
  { onlyOwn }: { readonly onlyOwn: boolean },
): FolderScore {
  const equivalent = trials.filter(({ known }) => known?.equivalent === true);
  const counted = trials.filter((trial) => !equivalent.includes(trial));
  const left = counted.filter(({ killedBy }) => killedBy === undefined);
  const gone = before.survivors.length - trials.length;
  const tried = before.tried - equivalent.length - gone;
  return {
    tried,
    own: before.own + counted.filter(({ killedBy }) => killedBy === "own" || killedBy === "types").length,
    ...((!onlyOwn || left.every(({ known }) => known !== undefined)) && { killed: tried - left.length }),
    equivalent: [...before.equivalent, ...equivalent.map(lineOf)].sort(),
    survivors: left.map(lineOf).sort(),
  };
}
