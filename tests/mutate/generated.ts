import { type Choice, chosenGroups, type Group } from "./groups.ts";
import type { Imports } from "./imports.ts";
import { inCopies, Killer } from "./killer.ts";
import { KNOWN_SURVIVORS } from "./known_survivors.ts";
import { guardsOf, type Mutant, mutantsOf, mutated } from "./mutant.ts";
import { GUARDS, SAMPLES } from "./reports.ts";
import { percent, PROMISED, scoreOf, type Trial, unexplained } from "./score.ts";
import { seededSample } from "./seeded_sample.ts";
import type { TreeCopy } from "./tree_copy.ts";

interface Found {
  readonly file: string;
  readonly text: string;
  readonly mutant: Mutant;
}

interface Options extends Choice {
  readonly seed: number;
  /** Number of mutants drawn from a folder. */
  readonly count: number;
  /** Whether only the folder's own tests run. */
  readonly onlyOwn: boolean;
  /** Number of copies of the tree in use at once. */
  readonly jobs: number;
}

/** Group with its mutants, and the results so far. */
interface Tried extends Group {
  readonly all: readonly Found[];
  readonly drawn: readonly Found[];
  readonly trials: Trial[];
}

/**
 * Tries samples of mutants, or all guards, and writes the score of each group as soon as it is known.
 * @returns Whether each mutant was noticed or has a reason in `known_survivors.ts`, and each sample reached
 *   the promised score.
 */
export async function tryGenerated(root: string, imports: Imports, options: Options): Promise<boolean> {
  const { guards, onlyOwn } = options;
  const report = guards ? GUARDS : SAMPLES;
  const groups: Tried[] = [];
  for (const group of await chosenGroups(root, imports, options, await report.read())) {
    const all = await mutantsIn(root, group, guards ? guardsOf : mutantsOf);
    const keyOf = ({ file, mutant: { at, change } }: Found) => `${file} ${at} ${change}`;
    const drawn = guards ? all : seededSample(all, options.count, options.seed, keyOf);
    groups.push({ ...group, all, drawn, trials: [] });
  }
  const queue = groups.flatMap((group) => group.drawn.map((found) => ({ group, found })));
  const killer = new Killer(imports);
  let done = 0;
  let good = true;
  for (const group of groups) if (group.drawn.length === 0) await finish(group);
  await inCopies(queue, options.jobs, async (tree, { group, found }) => {
    const trial = await tryOut(tree, found);
    group.trials.push(trial);
    const { file, mutant: { line, kind, change }, killedBy, known } = trial;
    const outcome = killedBy ?? (known?.equivalent ? "equivalent" : "SURVIVED");
    console.log(`${++done}/${queue.length} ${outcome} ${file}:${line} ${kind}: ${change}`);
    if (group.trials.length === group.drawn.length) await finish(group);
  });
  return good;

  async function tryOut(tree: TreeCopy, { file, text, mutant }: Found): Promise<Trial> {
    const known = KNOWN_SURVIVORS.find((known) =>
      known.file === file && known.at === mutant.at && known.change === mutant.change
    );
    // Known survivors are not tried: all tests would run for each of them.
    const killedBy = known === undefined
      ? await killer.killedBy(tree, { file, text: mutated(text, mutant) }, onlyOwn)
      : undefined;
    return { file, mutant, killedBy, known };
  }

  async function finish({ path, all, trials, digest, whole }: Tried): Promise<void> {
    const score = scoreOf(trials, onlyOwn);
    const { tried, own, killed } = score;
    console.log(
      `${path}: ${tried} tried, killed ${percent(own, tried)} (own) ${percent(killed, tried)} (all)`,
    );
    good &&= (onlyOwn || unexplained(score).length === 0) &&
      (guards || (own >= PROMISED.own * tried && (killed ?? tried) >= PROMISED.all * tried));
    if (!whole) return;
    const now = {
      day: new Date().toISOString().slice(0, 10),
      digest,
      ...(!guards && { seed: options.seed }),
      mutants: all.length,
      ...score,
    };
    const isThere = ([part]: [string, unknown]) =>
      imports.files.some((file) => `${file}/`.startsWith(`${part}/`));
    const kept = Object.entries({ ...await report.read(), [path]: now }).filter(isThere);
    await report.write(Object.fromEntries(kept.sort(([a], [b]) => a < b ? -1 : 1)));
  }
}

async function mutantsIn(root: string, { files }: Group, of: (text: string) => Mutant[]): Promise<Found[]> {
  const found: Found[] = [];
  for (const file of files) {
    const text = await Deno.readTextFile(root + file);
    for (const mutant of of(text)) found.push({ file, text, mutant });
  }
  return found;
}
