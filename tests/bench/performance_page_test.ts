import assert from "node:assert/strict";
import { format, mark, promise } from "./figure.ts";
import { ALL } from "./measurements/all.ts";
import { PAGE, page, RECORD, type Taken } from "./performance_page.ts";

const taken: Taken = {
  summary: "What a does",
  on: "2026-11-21",
  deno: "2.9.6",
  processor: "Abacus",
  cores: 2,
  figures: [
    { what: "rate, relative to the bare program", value: 0.7449, unit: "×", target: { atLeast: 0.8 } },
    { what: "growth", value: 5, unit: "%", target: { atMost: 5 } },
    { what: "requests", value: 1713104, unit: "" },
  ],
};

Deno.test("page() shows missed promises, and the machine of each figure", () => {
  const text = page({ a: taken, users: { ...taken, processor: "Slide rule" } });
  assert.match(text, /\|a\|rate, relative to the bare program\|≥ 0\.8 ×\|0\.74 ×\|A\|\*\*MISSED\*\*\|/);
  assert.match(text, /\|users\|growth\|≤ 5 %\|5 %\|B\|met\|/);
  assert.match(text, /\|B\|2 cores of Slide rule, Deno 2\.9\.6\|/);
  assert.match(text, /\|a\|What a does \(2026-11-21\)\|/);
  assert.match(
    text,
    /### users\n\nOn 2026-11-21, machine [AB]\.\n[^]*\|requests\|1,713,104\|/,
  );
});

Deno.test("docs/performance.md has at most 2,000 words", async () => {
  const words = (await Deno.readTextFile(PAGE)).match(/\S+/g) ?? [];
  assert(words.length <= 2000, `${words.length} words`);
});

Deno.test("format() shows fewer decimals for larger figures", () => {
  const values: [number, string][] = [[0.654, "0.65 µs"], [12.34, "12.3 µs"], [1234.5, "1,235 µs"], [
    0,
    "0 µs",
  ]];
  for (const [value, text] of values) assert.equal(format({ what: "", value, unit: "µs" }), text);
  assert.deepEqual([promise({ what: "", value: 1, unit: "" }), mark({ what: "", value: 1, unit: "" })], [
    "",
    "",
  ]);
});

Deno.test("docs/performance.md shows the figures of docs/performance.json (deno task bench)", async () => {
  const record = JSON.parse(await Deno.readTextFile(RECORD));
  assert.deepEqual(Object.keys(record).filter((name) => !ALL.some((known) => known.name === name)), []);
  assert.equal(await Deno.readTextFile(PAGE), page(record));
});
