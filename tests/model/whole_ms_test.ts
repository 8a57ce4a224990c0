import assert from "node:assert/strict";
import { wholeMs } from "../../src/model/clock.ts";
import type { Values } from "../../src/store/database.ts";

Deno.test("wholeMs() rounds to whole milliseconds for a database, and refuses values that are not times", () => {
  assert.deepEqual([0.25, 12_047.746237, 7, -1.2].map(wholeMs), [0, 12_048, 7, -1]);
  for (const ms of [NaN, Infinity, 2 ** 60]) assert.throws(() => wholeMs(ms), RangeError);
});

Deno.test("the compiler refuses times that may have fractions as database values", () => {
  const elapsed: number = performance.now();
  // @ts-expect-error: a stopwatch returns fractions
  const wrong: Values = { lasts: elapsed };
  const right: Values = { lasts: wholeMs(elapsed), server: "HPC" };
  assert.equal(Object.keys(wrong).length + 1, Object.keys(right).length);
});
