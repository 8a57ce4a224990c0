/**
 * `deno task broken [--check] [--new] [--jobs N] [TEXT...]`: breaks each promise of the threat model and of the page on
 * reliability in a copy of the code, and looks whether a test fails. Writes `tests/reports/broken-on-purpose.md`; with texts only
 * those whose rows contain one are tried, with `--new` only those that have no result yet; results of the others stay.
 * `--check` runs nothing and tells whose places in the code have gone, and which promises nothing breaks. Ends with 1 if
 * something goes unnoticed.
 */
import { parseArgs } from "node:util";
import { type Outcome, TreeCopy } from "../mutate/tree_copy.ts";
import { AnchorGone, type Breakage, isNoticed } from "./breakage.ts";
import { BREAKAGES } from "./breakages.ts";
import { brokenPage, type BrokenRow, type Kept } from "./broken_page.ts";
import { promises } from "./promises.ts";

const ROOT = new URL("../../", import.meta.url).pathname;
const DATA = `${ROOT}tests/reports/broken-on-purpose.json`;
const PAGE = `${ROOT}tests/reports/broken-on-purpose.md`;
/** Of what tests take unharmed, how much they may take with a breakage, and how long at least, in milliseconds. */
const MAX_WAIT = { times: 5, atLeastMs: 90_000, unharmedMs: 400_000 };

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    check: { type: "boolean", default: false },
    new: { type: "boolean", default: false },
    jobs: { type: "string", default: String(Math.max(1, navigator.hardwareConcurrency >> 1)) },
  },
});

const breaks = (breakage: Pick<Breakage, "rows">, promise: string) =>
  breakage.rows.some((row) => promise.startsWith(row));
const all = await promises(ROOT);
const unbroken = all.filter((promise) => !BREAKAGES.some((breakage) => breaks(breakage, promise)));
for (const promise of unbroken) complain(`nothing breaks: ${promise}`);
for (const { rows } of BREAKAGES) {
  if (!rows.some((row) => all.some((promise) => promise.startsWith(row)))) {
    complain(`no page promises: ${rows[0]}`);
  }
}

/** Breakages with the broken text of their file. */
const ready: (readonly [Breakage, string])[] = [];
for (const breakage of BREAKAGES) {
  try {
    const text = await Deno.readTextFile(ROOT + breakage.file);
    const changed = breakage.change(text);
    if (changed === text) throw new AnchorGone("nothing to change");
    ready.push([breakage, changed]);
  } catch (error) {
    if (!(error instanceof AnchorGone || error instanceof Deno.errors.NotFound)) throw error;
    complain(`${breakage.file} is not what it was: ${error.message} (to break: ${breakage.broken})`);
  }
}
const unharmed = new Map<string, Promise<Outcome>>();
if (!options.check) await tryAll();

async function tryAll(): Promise<void> {
  const earlier: Kept | undefined = await Deno.readTextFile(DATA).then(JSON.parse, () => undefined);
  const before = (broken: string) => earlier?.rows.find((row) => row.broken === broken);
  const wanted = ({ rows, broken }: Breakage) =>
    (positionals.length === 0 || rows.some((row) => positionals.some((text) => row.includes(text)))) &&
    !(options.new && before(broken) !== undefined);
  const queue = ready.filter(([breakage]) => wanted(breakage));
  const total = queue.length;
  const run = `${new Date().toISOString().slice(0, 10)} ${await commit()}`;
  const results = new Map<string, BrokenRow | undefined>();
  await Promise.all(Array.from({ length: Number(options.jobs) }, async () => {
    await using tree = await TreeCopy.make();
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
      const [breakage, text] = next;
      const row = await tryOut(tree, breakage, text);
      if (row === undefined) complain(`NOT NOTICED: ${breakage.broken} (${breakage.file})`);
      results.set(breakage.broken, row && { ...row, run });
      await keep(results);
      console.log(
        `${total - queue.length}/${total} ${row?.failed[0] ?? "-"} <= ${breakage.broken}`,
      );
    }
  }));
  await keep(results);
}

/** Puts results in the place of earlier ones: a long run that is ended has not been for nothing. */
async function keep(results: ReadonlyMap<string, BrokenRow | undefined>): Promise<void> {
  const earlier: Kept | undefined = await Deno.readTextFile(DATA).then(JSON.parse, () => undefined);
  const rows = ready.flatMap(([{ broken, file, rows }]): BrokenRow[] => {
    const before = earlier?.rows.find((row) => row.broken === broken);
    const row = results.has(broken) ? results.get(broken) : before;
    return row === undefined ? [] : [{ ...row, file, rows }];
  });
  const kept: Kept = { rows };
  await Deno.writeTextFile(DATA, `${JSON.stringify(kept, undefined, 1)}\n`);
  const without = all.filter((promise) => !rows.some((row) => breaks(row, promise)));
  await Deno.writeTextFile(PAGE, brokenPage(kept, without));
}

/** What failed that does not fail otherwise; `undefined` if nothing did. */
async function tryOut(
  tree: TreeCopy,
  { rows, broken, file, tests, only }: Breakage,
  text: string,
): Promise<Omit<BrokenRow, "run"> | undefined> {
  for (const test of tests) {
    const usual = await outcomeUnharmed(tree, test, only);
    const restore = await tree.change(file, text);
    const limit = Math.max(MAX_WAIT.atLeastMs, MAX_WAIT.times * usual.ms);
    const { passed, failed, late } = await tree.test([test], limit, { only }).finally(restore);
    const more = failed.filter((name) => !usual.failed.includes(name));
    if (isNoticed({ passed, failed: more, late }, usual)) {
      return { rows, broken, file, failed: more, late };
    }
  }
}

/** How tests end with the code as it is. */
function outcomeUnharmed(tree: TreeCopy, test: string, only: string | undefined): Promise<Outcome> {
  const key = `${test} ${only ?? ""}`;
  const known = unharmed.get(key);
  if (known !== undefined) return known;
  const outcome = tree.test([test], MAX_WAIT.unharmedMs, { only });
  unharmed.set(key, outcome);
  return outcome;
}

/** The commit that the tree is at, or next to. */
async function commit(): Promise<string> {
  const args = ["rev-parse", "--short=8", "HEAD"];
  const { success, stdout } = await new Deno.Command("git", { args, cwd: ROOT }).output();
  return success ? new TextDecoder().decode(stdout).trim() : "";
}

function complain(text: string): void {
  console.error(text);
  Deno.exitCode = 1;
}
