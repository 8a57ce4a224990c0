import type { Imports } from "./imports.ts";
import { testsInOrder } from "./tests_of.ts";
import { isNoticed, type Outcome, TreeCopy } from "./tree_copy.ts";

/**
 * Longest run of a part of the tests, with an allowance for each file in it, and time after which no further
 * part of the tests begins for a mutant, in milliseconds.
 */
const MAX_WAIT = { partMs: 60_000, fileMs: 30_000, mutantMs: 600_000 };
const UNHARMED_MS = 400_000;
const CHECK_MS = 120_000;

/** Detector of a mutant: tests of its folder, the compiler, or tests of other folders. */
export type KilledBy = "own" | "types" | "others";

/** File of the tree, with a mistake in its text. */
export interface MutatedFile {
  readonly file: string;
  readonly text: string;
}

/** Runner of tests in copies of the tree, with a mutant and, after a failure, without it. */
export class Killer {
  /** Outcomes of tests without a mutant, by path and filter. */
  readonly #unharmed = new Map<string, Promise<Outcome>>();

  constructor(readonly imports: Imports) {}

  /**
   * Tries a mutant with the test that mirrors its file, the compiler, other tests of the folder that load the
   * file, and tests of other folders unless `onlyOwn`; the nearest tests run first.
   */
  async killedBy(tree: TreeCopy, mutant: MutatedFile, onlyOwn: boolean): Promise<KilledBy | undefined> {
    const { own, others } = testsInOrder(this.imports, mutant.file);
    const failFor = async (parts: readonly (readonly string[])[]) =>
      await this.failures(tree, mutant, parts, { failFast: true }) !== undefined;
    if (await failFor(own.slice(0, 1))) return "own";
    const restore = await tree.change(mutant.file, mutant.text);
    if (!await tree.compiles(mutant.file, CHECK_MS).finally(restore)) return "types";
    if (await failFor(own.slice(1))) return "own";
    return !onlyOwn && await failFor(others) ? "others" : undefined;
  }

  /**
   * Runs one part of the tests after the other until a part notices the mutant.
   * @returns Names of tests that fail because of the mutant; empty if the file cannot be loaded, `undefined`
   *   if no part notices the mutant.
   */
  async failures(
    tree: TreeCopy,
    { file, text }: MutatedFile,
    parts: readonly (readonly string[])[],
    options: { readonly failFast?: boolean; readonly only?: string | undefined },
  ): Promise<readonly string[] | undefined> {
    const until = performance.now() + MAX_WAIT.mutantMs;
    for (const part of parts) {
      if (performance.now() > until) break;
      const within = async (limitMs: number) => {
        const restore = await tree.change(file, text);
        return await tree.test(part, limitMs, options).finally(restore);
      };
      const limitMs = MAX_WAIT.partMs + MAX_WAIT.fileMs * part.length;
      let outcome = await within(limitMs);
      if (outcome.passed) continue;
      const named = part.filter((path) => outcome.output.includes(`=> ./${path}`));
      const usual = await this.#withoutMutant(tree, named.length > 0 ? named : part, options.only);
      if (outcome.late && outcome.failed.length === 0 && 4 * usual.ms > limitMs) {
        outcome = await within(8 * usual.ms);
      }
      const failed = outcome.failed.filter((name) => !usual.failed.includes(name));
      if (isNoticed({ ...outcome, failed }, usual)) return failed;
    }
  }

  async #withoutMutant(tree: TreeCopy, paths: readonly string[], only: string | undefined) {
    const outcomes: Outcome[] = [];
    for (const path of paths) {
      const key = `${path} ${only ?? ""}`;
      const running = this.#unharmed.get(key) ?? tree.test([path], UNHARMED_MS, { only });
      this.#unharmed.set(key, running);
      const outcome = await running;
      if (!outcome.passed) {
        console.error(`fails without a mutant, too: ${path}\n${outcome.output.slice(-1000)}`);
      }
      outcomes.push(outcome);
    }
    return {
      passed: outcomes.every(({ passed }) => passed),
      failed: outcomes.flatMap(({ failed }) => failed),
      ms: outcomes.reduce((sum, { ms }) => sum + ms, 0),
    };
  }
}

/** Works on each item in a copy of the tree. @param copies Largest number of copies at once. */
export async function inCopies<Item>(
  items: readonly Item[],
  copies: number,
  work: (tree: TreeCopy, item: Item) => Promise<void>,
): Promise<void> {
  const queue = [...items];
  await Promise.all(Array.from({ length: Math.min(copies, queue.length) }, async () => {
    await using tree = await TreeCopy.make();
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) await work(tree, next);
  }));
}
