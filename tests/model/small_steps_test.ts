import assert from "node:assert/strict";
import fc from "fast-check";
import { linesOf, SmallSteps } from "../../src/model/small_steps.ts";

Deno.test("SmallSteps lets others have their turn once a step has lasted long enough, and begins anew", async () => {
  const steps = new SmallSteps();
  while (!steps.isLong);
  let others = 0;
  setTimeout(() => others++, 0);
  while (others === 0) {
    if (steps.isLong) await steps.rest();
  }
  assert.equal(steps.isLong, false);
});

Deno.test("linesOf() is what splitting at line feeds is", () => {
  fc.assert(fc.property(fc.string({ unit: fc.constantFrom("a", "\n", "\r", "") }), (text) => {
    assert.deepEqual([...linesOf(text)], text.split("\n"));
  }));
});
