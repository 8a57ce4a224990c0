import assert from "node:assert/strict";
import { counted } from "../../src/model/counted.ts";

Deno.test("counted() speaks of one, and of several or none", () => {
  assert.deepEqual([0, 1, 2].map((count) => counted(count, "token", "tokens")), [
    "0 tokens",
    "1 token",
    "2 tokens",
  ]);
});
