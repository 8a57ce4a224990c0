import { AnchorGone, type Breakage } from "./breakage.ts";
import { BREAKAGES } from "./breakages.ts";
import { git } from "./groups.ts";
import type { Imports } from "./imports.ts";
import { inCopies, Killer } from "./killer.ts";
import { promises } from "./promises.ts";
import { BROKEN, type BrokenRow } from "./reports.ts";

const breaks = ({ rows }: Pick<Breakage, "rows">, promise: string) =>
  rows.some((row) => promise.startsWith(row));

/** Returns mistakes in the list of breakages: promises that nothing breaks, rows and code that are gone. */
export async function mistakesInBreakages(root: string): Promise<string[]> {
  const all = await promises(root);
  const mistakes = all.filter((promise) => !BREAKAGES.some((breakage) => breaks(breakage, promise)))
    .map((promise) => `nothing breaks: ${promise}`);
  for (const breakage of BREAKAGES) {
    const { rows, file, broken, tests } = breakage;
    if (!all.some((promise) => breaks(breakage, promise))) mistakes.push(`no page promises: ${rows[0]}`);
    try {
      await brokenText(root, breakage);
      for (const test of tests) await Deno.stat(root + test);
    } catch (error) {
      if (!(error instanceof AnchorGone || error instanceof Deno.errors.NotFound)) throw error;
      mistakes.push(`${file}: ${error.message} (to break: ${broken})`);
    }
  }
  return mistakes;
}

/**
 * Breaks promises of the documents, and records which tests failed.
 * @param choice.names Texts to look for in rows; an empty list chooses all rows.
 * @returns Whether tests noticed every breakage.
 */
export async function breakPromises(
  root: string,
  imports: Imports,
  choice: {
    readonly names: readonly string[];
    readonly changed?: ReadonlySet<string> | undefined;
    readonly onlyNew: boolean;
    readonly jobs: number;
  },
): Promise<boolean> {
  const before = new Map((await BROKEN.read()).rows.map((row) => [row.broken, row]));
  const wanted = BREAKAGES.filter(({ rows, broken, file }) =>
    (choice.names.length === 0 || rows.some((row) => choice.names.some((text) => row.includes(text)))) &&
    choice.changed?.has(file) !== false && !(choice.onlyNew && before.has(broken))
  );
  const all = await promises(root);
  const run = `${new Date().toISOString().slice(0, 10)} ${await git(root, "rev-parse", "--short=8", "HEAD")}`;
  const killer = new Killer(imports);
  let done = 0;
  let good = true;
  await inCopies(wanted, choice.jobs, async (tree, breakage) => {
    const { rows, broken, file, tests, only } = breakage;
    const text = await brokenText(root, breakage);
    const failed = await killer.failures(tree, { file, text }, tests.map((test) => [test]), { only });
    good &&= failed !== undefined;
    console.log(`${++done}/${wanted.length} ${failed?.join("; ") ?? "NOT NOTICED"} <= ${broken} (${file})`);
    if (failed === undefined) before.delete(broken);
    else before.set(broken, { rows, broken, file, failed, run });
    // Keeps the order of the list, and drops results of breakages that are no longer in it.
    const kept = BREAKAGES.flatMap(({ broken, file, rows }): BrokenRow[] => {
      const row = before.get(broken);
      return row === undefined ? [] : [{ ...row, file, rows }];
    });
    const unbroken = all.filter((promise) => !kept.some((row) => breaks(row, promise)));
    await BROKEN.write({ rows: kept, unbroken });
  });
  return good;
}

/** @throws {AnchorGone | Deno.errors.NotFound} If the code to change is gone. */
async function brokenText(root: string, { file, change }: Breakage): Promise<string> {
  const text = await Deno.readTextFile(root + file);
  const changed = change(text);
  if (changed === text) throw new AnchorGone("nothing to change");
  return changed;
}
