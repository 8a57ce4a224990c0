import assert from "node:assert/strict";
import fc from "fast-check";
import {
  coversAllBelow,
  escapePattern,
  matchesPattern,
  mayMatchBelow,
  staysBelow,
} from "../../../src/sharing/rules/path_pattern.ts";

const MATCHES: [string, string, boolean][] = [
  ["/B/*.txt", "/B/a.txt", true],
  ["/B/*.txt", "/B/b.TXT", false],
  ["/B/*.txt", "/B/d1/y.txt", true],
  ["/B/d1/*", "/B/d1/d2/y.dat", true],
  ["/B/d1/*", "/B/d1", false],
  ["/B/d1", "/B/d1", true],
  ["/a?c", "/abc", true],
  ["/a?c", "/ac", false],
  ["/a?c", "/a😀c", true],
  ["/a[bc]", "/ab", true],
  ["/a[!bc]", "/ab", false],
  ["/a[!bc]", "/ad", true],
  ["/a[b-d]", "/ac", true],
  ["/a[]]", "/a]", true],
  ["/a[!]]", "/a]", false],
  ["/a[b", "/a[b", true],
  ["/a[1].txt", "/a1.txt", true],
  ["/a[1].txt", "/a[1].txt", false],
  ["/a[[]1].txt", "/a[1].txt", true],
  ["/a[-x]", "/a-", true],
  ["*", "/anything", true],
  ["", "", true],
  ["", "/", false],
  ["/.*", "/.ssh", true],
  ["/a.c", "/abc", false],
];

for (const [pattern, path, expected] of MATCHES) {
  Deno.test(`matchesPattern() of ${pattern} and ${path} is ${expected}`, () => {
    assert.equal(matchesPattern(pattern, path), expected);
  });
}

Deno.test("escapePattern() makes a pattern for exactly this text", () => {
  const name = fc.string({
    unit: fc.constantFrom("*", "?", "[", "]", "!", "-", "a", "b", "/"),
    maxLength: 8,
  });
  fc.assert(fc.property(name, name, (one, other) => {
    assert.equal(matchesPattern(escapePattern(one), other), one === other);
  }));
});

Deno.test("matchesPattern() is done in time with a pattern made to be slow", () => {
  const start = performance.now();
  assert.equal(matchesPattern(`${"*a".repeat(500)}b`, "a".repeat(2000)), false);
  assert.ok(performance.now() - start < 2000);
});

Deno.test("coversAllBelow(), staysBelow() and mayMatchBelow() never claim too much", () => {
  const text = fc.string({ unit: fc.constantFrom("*", "?", "[a]", "a", "b", "/"), maxLength: 6 });
  const plain = fc.string({ unit: fc.constantFrom("a", "b", "/"), maxLength: 5 });
  fc.assert(
    fc.property(text, plain, plain, (tail, start, rest) => {
      const pattern = `/${tail}`;
      const directory = `/${start}/`;
      const path = `${directory}${rest}`;
      const matches = matchesPattern(pattern, path);
      if (coversAllBelow(pattern, directory)) assert.ok(matches);
      if (matches) assert.ok(mayMatchBelow(pattern, directory) || rest === "");
      if (staysBelow(pattern, directory) && matchesPattern(pattern, `/${rest}`)) {
        assert.ok(`/${rest}`.startsWith(directory));
      }
    }),
    { numRuns: 3000 },
  );
});
