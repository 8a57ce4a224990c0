import assert from "node:assert/strict";
import fc from "fast-check";
import { CHARACTER } from "../fixtures/character.ts";
import { matchesPattern } from "./path_pattern.ts";

const MATCHES: readonly [pattern: string, text: string, matches: boolean][] = [
  ["/b/*.txt", "/b/a.txt", true],
  ["/b/*.txt", "/b/d1/y.txt", true],
  ["/b/*.txt", "/b/b.TXT", false],
  ["/b/d1/*", "/b/d1", false],
  ["/b/d1/*", "/b/d1/d2/y", true],
  ["/b/?", "/b/x", true],
  ["/b/?", "/b/xy", false],
  ["/b/?", "/b/😀", true],
  ["a[1].txt", "a1.txt", true],
  ["a[1].txt", "a[1].txt", false],
  ["a[[]1].txt", "a[1].txt", true],
  ["[*]", "*", true],
  ["[*]", "x", false],
  ["[!a-c]", "d", true],
  ["[!a-c]", "b", false],
  ["[]]", "]", true],
  ["[!]]", "]", false],
  ["[", "[", true],
  ["[]", "[]", true],
  ["[!", "[!", true],
  ["[c-a]", "b", false],
  ["[a-]", "-", true],
  ["a.b", "axb", false],
  ["a\\*", "a\\x", true],
  ["*", "line\nbreak", true],
  ["", "", true],
  ["", "x", false],
];
for (const [pattern, text, matches] of MATCHES) {
  Deno.test(`matchesPattern() ${matches ? "matches" : "rejects"} ${JSON.stringify(text)} for ${JSON.stringify(pattern)}`, () => {
    assert.equal(matchesPattern(text, pattern), matches);
  });
}

Deno.test("matchesPattern() accepts any pattern, and matches any text with its escaped form", () => {
  fc.assert(fc.property(fc.string({ unit: CHARACTER }), fc.string(), (text, pattern) => {
    matchesPattern(text, pattern);
    assert.equal(matchesPattern(text, text.replace(/[[*?]/g, "[$&]")), true);
  }));
});
