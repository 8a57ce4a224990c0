import assert from "node:assert/strict";
import fc from "fast-check";
import {
  dependsOnDirectory,
  isRelativePattern,
  matchesAll,
  matchesWildcards,
  patternsOf,
  wildcardOf,
} from "../../src/model/wildcards.ts";

Deno.test("matchesWildcards() agrees with the equivalent regular expression", () => {
  const unit = fc.constantFrom("a", "b", ".", "\u{1f511}");
  const pattern = fc.string({ unit: fc.constantFrom("a", "b", ".", "*", "?"), maxLength: 8 });
  fc.assert(
    fc.property(fc.string({ unit, maxLength: 12 }), pattern, (text, wanted) => {
      const same = new RegExp(
        `^${wanted.replaceAll(".", "\\.").replaceAll("*", "[^]*").replaceAll("?", "[^]")}$`,
        "u",
      );
      assert.equal(matchesWildcards(text, wanted), same.test(text));
    }),
    { numRuns: 2000 },
  );
});

Deno.test("matchesWildcards() does not backtrack through all ways to match", () => {
  assert.equal(matchesWildcards("a".repeat(300), "*a".repeat(150) + "b"), false);
});

Deno.test("matchesAll() applies a custom rule to characters", () => {
  const pattern = [
    wildcardOf("a"),
    (character: string) => /[0-9]/.test(character),
    "any" as const,
    wildcardOf("?"),
  ];
  for (const text of ["a1x", "a1xyz"]) assert.equal(matchesAll(text, pattern), true, text);
  for (const text of ["a1", "axx", "", "b1x"]) assert.equal(matchesAll(text, pattern), false, text);
});

Deno.test("patternsOf() splits a list as daemons do", () => {
  assert.deepEqual(patternsOf("a/*: /b ::*.txt:"), ["a/*", "/b", "*.txt"]);
  assert.deepEqual(patternsOf(" : "), []);
});

Deno.test("dependsOnDirectory() detects patterns whose meaning depends on the start directory of a session", () => {
  for (const pattern of ["a/*", "a", "*/b", "*.t?t", "*a*", "[ab]"]) {
    assert(dependsOnDirectory(pattern), pattern);
  }
  for (const pattern of ["/a/*", "*.txt", "*"]) assert(!dependsOnDirectory(pattern), pattern);
  assert(isRelativePattern("*.txt") && !isRelativePattern("/x"));
});
