/**
 * `deno task mutate [--guards | --promises] [--check] [--new] [--changed COMMIT] [--jobs N] [--seed N]
 * [--count N] [--own] [NAME...]`: puts one mistake after the other into a copy of the source, and runs tests
 * to see whether one of them notices it (`killer.ts`). The mistakes are
 * - a sample of small mistakes in each folder of `src`, drawn by `--seed` (`mutant.ts`); names are folders or
 *   files,
 * - with `--guards`, removed guards of protecting code (`PROTECTING`); names are folders or files,
 * - with `--promises`, mistakes that break a promise of the threat model or of the page on reliability
 *   (`breakages.ts`); names are texts in rows of these pages.
 *
 * `--changed` takes only files that changed since a commit. `--new` takes only code without a good result for
 * the present text of sources and tests. `--own` runs only a folder's own tests. `--check` tries nothing, and
 * prints which hand-written places in the code are gone and which promises nothing breaks. Results go to
 * `tests/reports/`. The exit status is 1 if a mistake goes unnoticed without a reason in
 * `known_survivors.ts`, or if a folder does not reach the promised score.
 */
import { parseArgs } from "node:util";
import { breakPromises, mistakesInBreakages } from "./broken_promises.ts";
import { tryGenerated } from "./generated.ts";
import { changedSince } from "./groups.ts";
import { Imports } from "./imports.ts";

const ROOT = new URL("../../", import.meta.url).pathname;

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    guards: { type: "boolean", default: false },
    promises: { type: "boolean", default: false },
    check: { type: "boolean", default: false },
    new: { type: "boolean", default: false },
    changed: { type: "string" },
    own: { type: "boolean", default: false },
    seed: { type: "string", default: "1" },
    count: { type: "string", default: "24" },
    jobs: { type: "string", default: String(Math.max(1, navigator.hardwareConcurrency >> 1)) },
  },
});

const mistakes = await mistakesInBreakages(ROOT);
for (const mistake of mistakes) console.error(mistake);
const good = options.check || await tryAll();
Deno.exit(good && mistakes.length === 0 ? 0 : 1);

async function tryAll(): Promise<boolean> {
  const imports = await Imports.of(ROOT);
  const changed = options.changed === undefined ? undefined : await changedSince(ROOT, options.changed);
  const common = { changed, onlyNew: options.new, jobs: Number(options.jobs) };
  if (options.promises) return await breakPromises(ROOT, imports, { ...common, names: positionals });
  return await tryGenerated(ROOT, imports, {
    ...common,
    guards: options.guards,
    names: positionals.map((name) => name.replace(/\/$/, "").replace(/^(?!src(\/|$))/, "src/")),
    seed: Number(options.seed),
    count: Number(options.count),
    onlyOwn: options.own,
  });
}
