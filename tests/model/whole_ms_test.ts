import assert from "node:assert/strict";
import { wholeMs } from "../../src/model/clock.ts";
import type { Values } from "../../src/store/database.ts";

Deno.test("wholeMs() rounds to what a database takes, and refuses what is no time", () => {
  assert.deepEqual([0.25, 12_047.746237, 7, -1.2].map(wholeMs), [0, 12_048, 7, -1]);
  for (const ms of [NaN, Infinity, 2 ** 60]) assert.throws(() => wholeMs(ms), RangeError);
});

Deno.test("a time that may have a fraction is no value for a database, for the compiler", () => {
  const elapsed: number = performance.now();
  // @ts-expect-error: a stopwatch has fractions
  const wrong: Values = { lasts: elapsed };
  const right: Values = { lasts: wholeMs(elapsed), server: "HPC" };
  assert.equal(Object.keys(wrong).length + 1, Object.keys(right).length);
});
