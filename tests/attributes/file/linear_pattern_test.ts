import assert from "node:assert/strict";
import fc from "fast-check";
import { InvalidPattern, LinearPattern } from "../../../src/attributes/file/linear_pattern.ts";
import { processorTime } from "../../model/processor_time.ts";

const MATCHES: readonly (readonly [pattern: string, text: string, matches: boolean])[] = [
  ["", "", true],
  ["", "a", false],
  ["CN=Ann.*", "cn=ann example,c=de", true],
  ["cn=.*,o=site-a,c=de", "cn=ann,o=site-a,c=de", true],
  ["cn=.*,o=site-a,c=de", "cn=ann,o=site-a,c=de,x", false],
  ["cn=ann", "cn=anna", false],
  ["ann", "cn=ann", false],
  ["^cn=ann$", "cn=ann", true],
  ["cn=(ann|bob),.*", "cn=bob,c=de", true],
  ["cn=(?:ann|bob),.*", "cn=eve,c=de", false],
  ["cn=(?<who>ann)", "cn=ann", true],
  ["a|b|", "", true],
  ["a|b|", "b", true],
  ["(?i)CN=X", "cn=x", true],
  ["cn=[a-f]+[0-9]{2,3}", "cn=abc12", true],
  ["cn=[a-f]+[0-9]{2,3}", "cn=abc1", false],
  ["cn=[a-f]+[0-9]{2,3}", "cn=abc1234", false],
  ["a{2}", "aa", true],
  ["a{2}", "aaa", false],
  ["a{2,}", "aaaa", true],
  ["a{0,1}b", "b", true],
  ["a*?b+?c??", "aabb", true],
  ["[^,]+,c=de", "cn=a,c=de", true],
  ["[^,]+,c=de", "cn=a,o=b,c=de", false],
  ["[A-Z]+", "abc", true],
  ["\\d\\D\\w\\W\\s\\S", "1xa, .", true],
  ["a\\.b\\*", "a.b*", true],
  ["a\\x2eb\\u00fc", "a.bu\u0308", true],
  ["\\Qa.b*\\E+c", "a.b**c", true],
  ["\\Qab\\E+", "abab", false],
  ["\\Q\\Ea", "a", true],
  ["\\Qa.b*\\E.c", "a.b*xc", true],
  ["\\Qa.b*", "a.b*", true],
  ["\\p{L}+", "abü", true],
  ["cn=müller", "cn=mu\u0308ller", true],
  ["cn=MÜLLER", "cn=mu\u0308ller", true],
  ["ü+", "u\u0308u\u0308", true],
  ["ü+", "u\u0308\u0308", false],
  ["straße", "STRASSE", false],
  ["STRAẞE", "straße", true],
  [".", "😀", true],
  ["cn=foo\\\\, bar", "cn=foo\\2c bar", true],
  ["cn=foo\\\\2c bar", "cn=foo\\2c bar", true],
  ["cn=foo\\\\\\+bar", "cn=foo\\2bbar", true],
  ["\\Qcn=foo\\,bar\\E", "cn=foo\\2cbar", true],
  ["cn=foo\\\\\\\\,o=bar", "cn=foo\\5c,o=bar", true],
  ["cn=foo\\\\, bar", "cn=foo, bar", false],
  ["((a?){3}b)*", "aabab", true],
  ["(a|ab)(c|bcd)(d*)", "abcd", true],
];

const INVALID: readonly (readonly [string, string])[] = [
  ["(", "expected )"],
  ["a)", "a group that was opened"],
  ["*a", "something to repeat"],
  ["a|*", "something to repeat"],
  ["^*", "something to repeat"],
  ["{2}", "something to repeat"],
  ["a{2", "something to repeat"],
  ["a**", "one quantifier"],
  ["a*+", "one quantifier"],
  ["a{3,2}", "rising order"],
  ["a{2000}", "up to 1000"],
  ["a{1001,}", "up to 1000"],
  ["(a{1000}){1000}", "fewer repetitions"],
  ["(((((a{9}){9}){9}){9}){9})", "fewer repetitions"],
  ["(?=a)", "without look-around"],
  ["(?<!a)b", "without look-around"],
  ["(?x:a)", "without look-around"],
  ["(a)\\1", "no back reference"],
  ["\\k<a>", "no back reference"],
  ["\\b", "no back reference"],
  ["a\\", "no back reference"],
  ["[a", "a class such as"],
  ["[]", "a class such as"],
  ["[z-a]", "a valid class"],
  ["[a[b]]", "without [ and &&"],
  ["[a&&b]", "without [ and &&"],
  ["[ü]", "without accents"],
  ["\\p{Nonsense}", "a valid class"],
  ["(".repeat(51) + "a" + ")".repeat(51), "at most 50 groups"],
  ["a".repeat(1001), "at most 1000 characters"],
];

Deno.test("LinearPattern matches whole texts, ignoring case", () => {
  for (const [pattern, text, matches] of MATCHES) {
    assert.equal(new LinearPattern(pattern).matches(text), matches, `${pattern} | ${text}`);
  }
});

Deno.test("LinearPattern accepts patterns up to the maximum length and nesting", () => {
  assert(new LinearPattern("a".repeat(1000)).matches("a".repeat(1000)));
  assert(new LinearPattern("(".repeat(50) + "a" + ")".repeat(50)).matches("a"));
});

Deno.test("LinearPattern says what is wrong with a pattern", () => {
  for (const [pattern, expected] of INVALID) {
    assert.throws(
      () => new LinearPattern(pattern),
      (error) => error instanceof InvalidPattern && error.message.includes(expected),
      `${pattern.slice(0, 40)}: ${expected}`,
    );
  }
});

Deno.test("LinearPattern is fast with patterns that are slow for other matchers", async () => {
  const took = await processorTime(() => {
    for (const pattern of ["(a+)+b", "(a|a)*b", "(a|aa)+b", "(a*)*b", ".*.*.*.*.*.*.*.*b", "(.*a){20}b"]) {
      assert.equal(new LinearPattern(pattern).matches("a".repeat(2000)), false);
    }
  });
  assert.ok(took < 3000, `${took} ms`);
});

Deno.test("LinearPattern agrees with JavaScript's own matcher", () => {
  const { pattern } = fc.letrec<{ pattern: string; atom: string }>((tie) => ({
    atom: fc.oneof(
      { maxDepth: 2 }, // deeper patterns can take JavaScript's own matcher a minute
      fc.constantFrom("a", "b", ".", "[ab]", "[^a]", "\\w", "^", "$"),
      tie("pattern").map((inner) => `(?:${inner})`),
    ),
    pattern: fc.array(
      fc.tuple(tie("atom"), fc.constantFrom("", "", "*", "+", "?", "{2}", "{1,2}", "*?")),
      { maxLength: 3 },
    ).chain((parts) =>
      fc.constantFrom("", "|").map((separator) =>
        parts.map(([atom, quantifier]) => /^[$^]$/.test(atom) ? atom : atom + quantifier).join(separator)
      )
    ),
  }));
  const text = fc.string({ unit: fc.constantFrom("a", "b", "c"), maxLength: 6 });
  fc.assert(
    fc.property(pattern, text, (expression, candidate) => {
      assert.equal(
        new LinearPattern(expression).matches(candidate),
        new RegExp(`^(?:${expression})$`, "iu").test(candidate),
        `${expression} | ${candidate}`,
      );
    }),
    { numRuns: 3000 },
  );
});

Deno.test("LinearPattern.crossesParts reports whether a wildcard matches beyond one part of a name", () => {
  const crossing = ["cn=.*,o=site", "cn=.+,.*", "cn=[^,]+,o=site", "cn=\\D*,o=site", "(cn=(a|.)+),o=site"];
  const others = ["", "cn=[^,+]*,o=site", ".*", "(.+)", "cn=ann, ?o=site", "cn=ann[, ]+o=site", "o=site.org"];
  for (const pattern of crossing) assert(new LinearPattern(pattern).spansParts, pattern);
  for (const pattern of [...others, "cn=\\w+", "cn=[^,+]*(,ou=x)*"]) {
    assert(!new LinearPattern(pattern).spansParts, pattern);
  }
  assert(new LinearPattern("cn=...,o=site").spansParts, "several single ones");
});
