import assert from "node:assert/strict";
import { compare } from "../../src/model/compare.ts";

Deno.test("compare() puts values in order", () => {
  assert.deepEqual(["b", "a", "B", "", "a"].sort(compare), ["", "B", "a", "a", "b"]);
  assert.deepEqual([3, -1, 10, 3].sort(compare), [-1, 3, 3, 10]);
  assert.deepEqual([true, false, true].sort(compare), [false, true, true]);
  assert.equal(compare("a", "a"), 0);
});
