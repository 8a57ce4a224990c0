import assert from "node:assert/strict";
import results from "../reports/mutation.json" with { type: "json" };
import { type Kept, mutationPage } from "./mutation_page.ts";
import { PROMISED } from "./score_table.ts";

/** Fewer would say little of a folder. */
const LEAST_TRIED = 15;

Deno.test("tests/reports/mutation.md shows the results in tests/reports/mutation.json", async () => {
  const page = await Deno.readTextFile(new URL("../reports/mutation.md", import.meta.url));
  assert.equal(page, mutationPage(results), "please run deno task mutate");
});

Deno.test("mutationPage() has a row for each folder, and lists survivors and equivalent ones apart", () => {
  const score = { day: "2026-01-05", seed: 1, mutants: 70, tried: 20, own: 18, killed: 19 };
  const page = mutationPage({
    b: {
      ...score,
      equivalent: ["- `src/b/x.ts:1` e — equivalent: why"],
      survivors: ["- `src/b/x.ts:2` s — so"],
    },
    a: { ...score, killed: 20, own: 20, equivalent: [], survivors: [] },
  });
  assert.match(
    page,
    /\| `a` \| 70 \| 20 \| 100 % \| 100 % \| 0 \| 1 \| 2026-01-05 \|\n\| `b` \| 70 \| 20 \| 90 % \| 95 % \| 1 \| 1 \|/,
  );
  assert.match(
    page,
    /## Survivors\n\n- `src\/b\/x\.ts:2` s — so\n\n## Equivalent\n\n- `src\/b\/x\.ts:1` e — why\n/,
  );
});

const SOURCE = new URL("../../src/", import.meta.url);
const FOLDERS = [...Deno.readDirSync(SOURCE)].filter(({ isDirectory }) => isDirectory).map(({ name }) =>
  name
);
const ROWS = new Map<string, Kept[string]>(Object.entries(results));

for (const folder of FOLDERS) {
  Deno.test(`tests/reports/mutation.md: enough mistakes in src/${folder} were tried and noticed`, () => {
    const row = ROWS.get(folder);
    assert(row !== undefined, `please run deno task mutate ${folder}`);
    const { tried, own, killed = 0, survivors } = row;
    assert(tried >= LEAST_TRIED, `${tried} tried`);
    assert(own >= PROMISED.own * tried, `${own} of ${tried} noticed by its own tests`);
    assert(killed >= PROMISED.all * tried, `${killed} of ${tried} noticed`);
    for (const survivor of survivors) {
      assert.match(survivor, / — \S/, "please give the reason in known_survivors.ts, or test it");
    }
  });
}
