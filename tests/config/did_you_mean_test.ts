import assert from "node:assert/strict";
import fc from "fast-check";
import { didYouMean, editDistance } from "../../src/config/did_you_mean.ts";

const WORDS = ["host", "port", "commandHost", "commandPort", "description", "description of servers"];

for (
  const [typed, meant] of [
    ["hots", "host"],
    ["hosts", "host"],
    ["HOST", "host"],
    ["pot", "port"],
    ["comandHost", "commandHost"],
    ["comandHots", "commandHost"],
    ["commandPart", "commandPort"],
    ["descriptoin", "description"],
    ["descripton of server", "description of servers"],
    ["dscripton of server", "description of servers"],
    ["dscripton f server", undefined],
    ["colour", undefined],
    ["", undefined],
    ["abc", undefined],
  ] as const
) {
  Deno.test(`didYouMean() suggests ${meant ?? "nothing"} for ${typed || "an empty word"}`, () => {
    assert.equal(didYouMean(typed, WORDS), meant);
  });
}

Deno.test("editDistance() counts edits of letters", () => {
  for (
    const [a, b, distance] of [
      ["", "", 0],
      ["", "abc", 3],
      ["abc", "abc", 0],
      ["abc", "acb", 1],
      ["abc", "abd", 1],
      ["abc", "ab", 1],
      ["kitten", "sitting", 3],
    ] as const
  ) assert.equal(editDistance(a, b), distance, `${a} ${b}`);
});

Deno.test("editDistance() is symmetric, and at most the longer length", () => {
  fc.assert(fc.property(fc.string(), fc.string(), (a, b) => {
    const distance = editDistance(a, b);
    assert.equal(distance, editDistance(b, a));
    assert.ok(distance <= Math.max(a.length, b.length));
    assert.equal(distance === 0, a === b);
  }));
});
