import assert from "node:assert/strict";
import type { Figure } from "./figure.ts";
import { measureUntilSure } from "./remeasure.ts";

const cases: readonly (readonly [what: string, values: number[], runs: number, value: number])[] = [
  ["a kept promise is measured once", [1], 1, 1],
  ["a promise that one run misses is kept by the median", [9, 1, 2], 3, 2],
  ["a promise that two runs miss is missed, even if the last one keeps it", [9, 8, 1], 3, 8],
];
for (const [what, values, runs, value] of cases) {
  Deno.test(`measureUntilSure(): ${what}`, async () => {
    const left = [...values];
    let missed = 0;
    const run = () =>
      Promise.resolve<readonly Figure[]>([
        { what: "cost", value: left.shift() ?? NaN, unit: "×", target: { atMost: 2 } },
        { what: "rate", value: 10 * values.length - left.length, unit: "/s" },
      ]);
    const [cost, rate] = await measureUntilSure(run, () => missed++);
    assert.equal(values.length - left.length, runs);
    assert.equal(missed, runs > 1 ? 1 : 0);
    assert.deepEqual(cost, { what: "cost", value, unit: "×", target: { atMost: 2 } });
    assert.equal(rate?.value, 10 * values.length - (runs - 1) / 2);
  });
}
