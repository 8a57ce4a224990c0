import assert from "node:assert/strict";
import { scoreOf, type Trial, unexplained } from "./score.ts";
import { seededSample } from "./seeded_sample.ts";

const known = { file: "src/a/x.ts", at: "", change: "1 → 2", why: "nobody sees it" };
const killed = (count: number, killedBy: Trial["killedBy"]): Trial[] =>
  Array.from({ length: count }, () => trial({ ...(killedBy === undefined ? {} : { killedBy }) }));
const trial = (more: Partial<Trial>): Trial => ({
  file: "src/a/x.ts",
  mutant: { kind: "number", line: 7, change: "1 → 2" },
  known: undefined,
  ...more,
});

Deno.test("scoreOf() counts what is killed, not what is equivalent, and lists survivors with their reasons", () => {
  const all = [
    ...killed(90, "own"),
    ...killed(2, "types"),
    ...killed(6, "others"),
    trial({ known: { ...known, equivalent: false } }),
    trial({ known: { ...known, equivalent: true } }),
    trial({}),
  ];
  const score = scoreOf(all, false);
  assert.deepEqual(score, {
    tried: 100,
    own: 92,
    killed: 98,
    equivalent: ["- `src/a/x.ts:7` number: `1 → 2` — equivalent: nobody sees it"],
    survivors: ["- `src/a/x.ts:7` number: `1 → 2`", "- `src/a/x.ts:7` number: `1 → 2` — nobody sees it"],
  });
  assert.deepEqual(unexplained(score), ["- `src/a/x.ts:7` number: `1 → 2`"]);
});

Deno.test("scoreOf() does not tell how many are killed where tests of other folders were not asked", () => {
  assert.equal(scoreOf([...killed(85, "own"), ...killed(15, undefined)], true).killed, undefined);
  assert.equal(scoreOf(killed(2, "own"), true).killed, 2);
});

Deno.test("seededSample() draws the same for the same seed, in the order of the list", () => {
  const all = Array.from({ length: 1000 }, (_, i) => i);
  const first = seededSample(all, 20, 1, String);
  assert.equal(first.length, 20);
  assert.deepEqual(first, first.toSorted((a, b) => a - b));
  assert.deepEqual(seededSample(all, 20, 1, String), first);
  assert.notDeepEqual(seededSample(all, 20, 2, String), first);
  assert.deepEqual(seededSample([1, 2], 20, 1, String), [1, 2]);
});

Deno.test("seededSample() draws from everywhere, and what it drew stays drawn when others come or go", () => {
  const all = Array.from({ length: 1000 }, (_, i) => i);
  const first = seededSample(all, 200, 1, String);
  for (const quarter of [0, 1, 2, 3]) {
    const drawn = first.filter((item) => Math.floor(item / 250) === quarter).length;
    assert(drawn > 25 && drawn < 75, `${drawn} of a quarter`);
  }
  const fewer = seededSample(all.filter((item) => item % 10 !== 0), 200, 1, String);
  assert(fewer.filter((item) => first.includes(item)).length >= 170);
});
