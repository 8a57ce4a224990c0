import assert from "node:assert/strict";
import { scoreTable, type Trial } from "./score_table.ts";
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

Deno.test("scoreTable() counts what is killed, not what is equivalent, and lists survivors with their reasons", () => {
  const all = [
    ...killed(90, "own"),
    ...killed(2, "types"),
    ...killed(7, "others"),
    trial({ known: { ...known, equivalent: false } }),
    trial({ known: { ...known, equivalent: true } }),
  ];
  const { text, good } = scoreTable(all, { onlyOwn: false });
  assert(good);
  assert.match(text, /^\| a \| 100 \| 92 % \| 99 % \|$/m);
  assert.match(text, /^- `src\/a\/x\.ts:7` number: `1 → 2` — nobody sees it$/m);
  assert.match(text, /— equivalent: nobody sees it$/m);
});

Deno.test("scoreTable() of a folder's own tests asks nothing of others, and needs no reasons yet", () => {
  const all = [...killed(85, "own"), ...killed(15, undefined)];
  const { text, good } = scoreTable(all, { onlyOwn: true });
  assert(good);
  assert.match(text, /^\| a \| 100 \| 85 % \| {2}\|$/m);
  assert(!scoreTable([...killed(84, "own"), ...killed(16, undefined)], { onlyOwn: true }).good);
});

for (
  const [what, all] of [
    ["a survivor without a reason", [...killed(99, "own"), trial({})]],
    ["94 of 100 killed", [
      ...killed(94, "own"),
      ...Array(6).fill(trial({ known: { ...known, equivalent: false } })),
    ]],
    ["84 of 100 killed by their own tests", [...killed(84, "own"), ...killed(16, "others")]],
  ] as const
) {
  Deno.test(`scoreTable() is not content with ${what}`, () => {
    assert(!scoreTable(all, { onlyOwn: false }).good);
  });
}

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
