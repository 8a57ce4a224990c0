import assert from "node:assert/strict";
import { isRelativePattern, movesWithStart, patternsOf } from "../../src/model/pattern_list.ts";

Deno.test("patternsOf() takes a list apart as daemons do", () => {
  assert.deepEqual(patternsOf("a/*: /b ::*.txt:"), ["a/*", "/b", "*.txt"]);
  assert.deepEqual(patternsOf(" : "), []);
});

Deno.test("movesWithStart() knows patterns that mean something else where a session begins elsewhere", () => {
  for (const pattern of ["a/*", "a", "*/b", "*.t?t", "*a*", "[ab]"]) assert(movesWithStart(pattern), pattern);
  for (const pattern of ["/a/*", "*.txt", "*"]) assert(!movesWithStart(pattern), pattern);
  assert(isRelativePattern("*.txt") && !isRelativePattern("/x"));
});
