import assert from "node:assert/strict";
import { PROTECTING } from "./groups.ts";
import { BROKEN, GUARDS, type KeptScore, SAMPLES } from "./reports.ts";
import { PROMISED, unexplained } from "./score.ts";

const ROOT = new URL("../../", import.meta.url);
/** Smallest sample that says something about a folder. */
const LEAST_TRIED = 15;
const SCORE: KeptScore = {
  day: "2026-01-05",
  mutants: 70,
  tried: 20,
  own: 18,
  killed: 19,
  equivalent: [],
  survivors: [],
};

for (const report of [SAMPLES, GUARDS, BROKEN]) {
  Deno.test(`tests/reports/${report.name}.md shows the results in tests/reports/${report.name}.json`, async () => {
    assert(await report.isCurrent(), "please run deno task mutate");
  });
}

Deno.test("tests/reports/mutation.md: enough mistakes in each folder of src were tried and noticed", async () => {
  const scores = await SAMPLES.read();
  for (const { name, isDirectory } of Deno.readDirSync(new URL("src", ROOT))) {
    if (!isDirectory) continue;
    const score = scores[`src/${name}`];
    assert(score !== undefined, `please run deno task mutate ${name}`);
    const { tried, own, killed = 0 } = score;
    assert(tried >= LEAST_TRIED, `${name}: ${tried} tried`);
    assert(own >= PROMISED.own * tried, `${name}: ${own} of ${tried} noticed by its own tests`);
    assert(killed >= PROMISED.all * tried, `${name}: ${killed} of ${tried} noticed`);
    assert.deepEqual(unexplained(score), [], "please give the reason in known_survivors.ts, or test it");
  }
});

Deno.test("tests/reports/guards.md: each guard that can be removed unnoticed has a reason, and its file protects somebody", async () => {
  for (const [file, score] of Object.entries(await GUARDS.read())) {
    await Deno.stat(new URL(file, ROOT));
    assert(PROTECTING.some((part) => file === part || file.startsWith(`${part}/`)), file);
    assert.equal(score.tried + score.equivalent.length, score.mutants, file);
    assert.equal((score.killed ?? 0) + score.survivors.length, score.tried, file);
    assert.deepEqual(unexplained(score), [], "please give the reason in known_survivors.ts, or test it");
  }
});

Deno.test("all that protects somebody is there", async () => {
  for (const part of PROTECTING) await Deno.stat(new URL(part, ROOT));
});

Deno.test("the page of samples has a row for each folder, and lists survivors and equivalent ones apart", () => {
  const page = SAMPLES.page({
    "src/b": {
      ...SCORE,
      seed: 1,
      equivalent: ["- `src/b/x.ts:1` e — equivalent: why"],
      survivors: ["- `src/b/x.ts:2` s — so"],
    },
    "src/a": { ...SCORE, seed: 1, killed: 20, own: 20 },
  });
  assert.match(
    page,
    /\| `src\/a` \| 70 \| 20 \| 100 % \| 100 % \| 0 \| 1 \| 2026-01-05 \|\n\| `src\/b` \| 70 \| 20 \| 90 % \| 95 % \| 1 \| 1 \|/,
  );
  assert.match(
    page,
    /## Survivors\n\n- `src\/b\/x\.ts:2` s — so\n\n## Equivalent\n\n- `src\/b\/x\.ts:1` e — why\n/,
  );
});

Deno.test("the page of guards has a row for each folder with the oldest day", () => {
  const page = GUARDS.page({
    "src/a/x.ts": SCORE,
    "src/a/y.ts": { ...SCORE, day: "2026-01-02", killed: 20, own: 20 },
    "src/a/b/z.ts": SCORE,
  });
  assert.match(
    page,
    /^\| `src\/a` \| 140 \| 40 \| 95 % \| 97 % \| 0 \| +\| 2026-01-02 \|\n\| `src\/a\/b` \| 70 \|/m,
  );
});

Deno.test("the page of broken promises has a line for each promise, with what failed", () => {
  const row = {
    rows: ["a", "b"],
    broken: "x | y",
    file: "src/f.ts",
    failed: ["1", "2", "3"],
    run: "2026-01-05 0123abcd",
  };
  const page = BROKEN.page({ rows: [row, { ...row, rows: ["c"], failed: [] }], unbroken: ["d"] });
  assert.match(page, /2 ways to break 3 promises/);
  assert.match(page, /^\| a \| x \\\| y \(`src\/f\.ts`\) \| 1; 2; and 1 more \| 2026-01-05 0123abcd \|$/m);
  assert.match(page, /^\| c \| .* \| the file cannot be loaded \| 2026-01-05 0123abcd \|$/m);
  assert.match(page, /Not broken yet, or not noticed:\n\n- d\n/);
});
