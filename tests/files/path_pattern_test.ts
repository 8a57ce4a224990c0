import assert from "node:assert/strict";
import fc from "fast-check";
import {
  commonPatterns,
  coversAllBelow,
  escapePattern,
  matchesPattern,
  mayMatchBelow,
  staysBelow,
} from "../../src/files/path_pattern.ts";
import { processorTime } from "../model/processor_time.ts";

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

Deno.test("escapePattern() returns a pattern that matches exactly its text", () => {
  const name = fc.string({
    unit: fc.constantFrom("*", "?", "[", "]", "!", "-", "a", "b", "/"),
    maxLength: 8,
  });
  fc.assert(fc.property(name, name, (one, other) => {
    assert.equal(matchesPattern(escapePattern(one), other), one === other);
  }));
});

Deno.test("matchesPattern() is fast for a pattern that is designed to be slow", async () => {
  const took = await processorTime(() => {
    assert.equal(matchesPattern(`${"*a".repeat(500)}b`, "a".repeat(2000)), false);
  });
  assert.ok(took < 2000, `${took} ms`);
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

const BELOW: [string, string, boolean, boolean][] = [
  // pattern, directory, stays below, may match below
  ["*.key", "/data/d/", false, true],
  ["*/secret", "/data/d/", false, true],
  ["?data/d/x", "/data/d/", false, true],
  ["/data/d/x", "/data/d/", true, true],
  ["/data/d/x*", "/data/d/", true, true],
  ["/data/d*", "/data/d/", false, true],
  ["/data/d", "/data/d/", false, false],
  ["/data/dx", "/data/d/", false, false],
  ["/data/e*", "/data/d/", false, false],
];

for (const [pattern, directory, stays, may] of BELOW) {
  Deno.test(`staysBelow() and mayMatchBelow() of ${pattern} and ${directory}`, () => {
    assert.deepEqual([staysBelow(pattern, directory), mayMatchBelow(pattern, directory)], [stays, may]);
  });
}

const COMMON: [string, string, readonly string[] | undefined][] = [
  ["/d/*", "/d/*", ["/d/*"]],
  ["/d/*.txt", "/d/*.txt", ["/d/*.txt"]],
  ["/d/*", "/d/e/*", ["/d/e/*"]],
  ["/d/*", "/d/x", ["/d/x"]],
  ["/d/?", "/d/x", ["/d/x"]],
  ["/d/e/*", "/d/f/*", []],
  ["/d/x", "/d/y", []],
  ["/d/*.txt", "/d/x", []],
  ["/d/*.txt", "/d/x*", undefined],
  ["/d/*a", "/d/*", ["/d/*a"]],
];

for (const [a, b, expected] of COMMON) {
  Deno.test(`commonPatterns() of ${a} and ${b} is ${expected}`, () => {
    assert.deepEqual(commonPatterns(a, b), expected);
    assert.deepEqual(commonPatterns(b, a), expected);
  });
}

Deno.test("commonPatterns() matches exactly what both match", () => {
  const pattern = fc.string({ unit: fc.constantFrom("*", "?", "[a]", "a", "b", "/"), maxLength: 5 });
  const path = fc.string({ unit: fc.constantFrom("a", "b", "/"), maxLength: 5 });
  fc.assert(
    fc.property(pattern, pattern, path, (a, b, text) => {
      const common = commonPatterns(a, b);
      const both = matchesPattern(a, text) && matchesPattern(b, text);
      if (common !== undefined) assert.equal(common.some((each) => matchesPattern(each, text)), both);
    }),
    { numRuns: 5000 },
  );
});
