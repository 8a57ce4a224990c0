import assert from "node:assert/strict";
import { join } from "node:path";
import fc from "fast-check";
import { decodeProperties, parseProperties } from "../../src/config/properties.ts";
import { formatDiagnostic } from "../../src/model/diagnostic.ts";
import { CHARACTER } from "../fixtures/character.ts";
import { formatProperties } from "./format_properties.ts";

const FIXTURES = join(import.meta.dirname ?? "", "fixtures");

function parse(text: string): Record<string, string> {
  return Object.fromEntries(parseProperties(text, "f").entries.map(({ key, value }) => [key, value]));
}

Deno.test("parseProperties() reads what Java reads", async () => {
  const text = decodeProperties(await Deno.readFile(join(FIXTURES, "java.properties")));
  const expected = new Map(Object.entries(JSON.parse(await Deno.readTextFile(join(FIXTURES, "java.json")))));
  const found = new Map(parseProperties(text, "f").entries.map(({ key, value }) => [key, value]));
  assert.deepEqual([...found.keys()].sort(), [...expected.keys()].sort());
  for (const [key, value] of expected) assert.equal(found.get(key), value, key);
});

Deno.test("parseProperties() reads back what was written", () => {
  const text = fc.string({ unit: CHARACTER });
  fc.assert(fc.property(fc.uniqueArray(fc.tuple(text, text), { selector: ([key]) => key }), (entries) => {
    const { entries: found, diagnostics } = parseProperties(formatProperties(entries), "f");
    assert.deepEqual(found.map(({ key, value }) => [key, value]), entries);
    assert.deepEqual(diagnostics, []);
  }));
});

Deno.test("parseProperties() never throws, and every line belongs to the text", () => {
  const hostile = fc.array(
    fc.constantFrom("\\", "u", "\n", "\r", " ", "\t", "\f", "=", ":", "#", "!", "a", "0", "é"),
  );
  fc.assert(fc.property(hostile, (letters) => {
    const text = letters.join("");
    const { entries, diagnostics } = parseProperties(text, "f");
    const lines = text.split(/\r\n|\r|\n/).length;
    for (const { line = 0 } of [...entries, ...diagnostics]) assert.ok(line >= 1 && line <= lines);
  }));
});

Deno.test("parseProperties() knows the first line of each entry", () => {
  const { entries } = parseProperties("# 1\n\na=\\\n 1\r\nb=2\r\r  ! 7\nc\\\n\\\n=3\nd=4", "f");
  assert.deepEqual(entries.map(({ key, value, line }) => [key, value, line]), [
    ["a", "1", 3],
    ["b", "2", 5],
    ["c", "3", 8],
    ["d", "4", 11],
  ]);
});

Deno.test("parseProperties() lets the last of equal keys count, and warns", () => {
  const { entries, diagnostics } = parseProperties("a=1\nb=2\na=3\na=4", "conf/x");
  assert.deepEqual(entries.map(({ key, value }) => [key, value]), [["b", "2"], ["a", "4"]]);
  assert.deepEqual(diagnostics.map(({ severity }) => severity), ["warning", "warning"]);
  assert.deepEqual(diagnostics.map(formatDiagnostic), [
    "conf/x:3: a: is also set in line 1; this line counts",
    "conf/x:4: a: is also set in line 3; this line counts",
  ]);
});

for (const bad of ["a=\\u", "a=\\u00", "a=\\u00g0", "a=x\\u004", "a=\\\\\\uzzzz", "a=\\u 0041"]) {
  Deno.test(`parseProperties() refuses the escape in ${bad} as Java does, without showing the value`, () => {
    const { entries, diagnostics } = parseProperties(`# 1\n${bad}\nb=1`, "f");
    assert.deepEqual(entries.map(({ key }) => key), ["b"]);
    assert.deepEqual(diagnostics.map(formatDiagnostic), [
      "f:2: a: expected four hexadecimal digits after \\u",
    ]);
    assert.deepEqual(diagnostics.map(({ severity }) => severity), ["error"]);
  });
}

Deno.test("parseProperties() takes hostile keys for ordinary ones", () => {
  const { entries } = parseProperties("__proto__=1\nconstructor.prototype=2\nhasOwnProperty=3", "f");
  assert.deepEqual(entries.map(({ key }) => key), ["__proto__", "constructor.prototype", "hasOwnProperty"]);
  assert.equal(Object.hasOwn(Object.prototype, "1"), false);
});

Deno.test("decodeProperties() reads UTF-8, with or without byte-order mark, and else ISO-8859-1", () => {
  const umlaut = "a=Grüße ☃";
  assert.equal(decodeProperties(new TextEncoder().encode(umlaut)), umlaut);
  assert.equal(decodeProperties(new TextEncoder().encode(`\ufeff${umlaut}`)), umlaut);
  assert.equal(decodeProperties(Uint8Array.fromHex("613d4772fcdf65")), "a=Grüße");
  assert.deepEqual(parse(decodeProperties(Uint8Array.fromHex("613d80ff"))), { a: "\u0080ÿ" });
});

Deno.test("parseProperties() joins a line of 300,000 pieces in no more than linear time: the test would not end", () => {
  const { entries } = parseProperties(`key=${"a\\\n".repeat(300_000)}`, "f");
  assert.equal(entries[0]?.value.length, 300_000);
});
