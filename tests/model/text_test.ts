import assert from "node:assert/strict";
import fc from "fast-check";
import {
  compare,
  counted,
  messageOf,
  printable,
  printableLines,
  trimCharacters,
  trimEndCharacters,
} from "../../src/model/text.ts";
import { CHARACTER, isInEmptyPlane } from "../fixtures/character.ts";
import { LONG } from "../long/results.ts";

/** Controls except the tab, format, private and unassigned characters, lone surrogates, line separators. */
const STEERING = /[^\P{C}\t]|[\p{Zl}\p{Zp}]/u;

const table: [text: string, shown: string][] = [
  ["Ann  Ex\u00e4mple\t\u{1f511}", "Ann  Ex\u00e4mple\t\u{1f511}"],
  ["\x1b[2J\x07\x7f", "\\u001b[2J\\u0007\\u007f"],
  ["\u009b2J\u0085", "\\u009b2J\\u0085"],
  ["\u202egpj.exe\u2066\u200f\u061c", "\\u202egpj.exe\\u2066\\u200f\\u061c"],
  ["a\u200bb\u00adc\ufeffd\u115fe\ufe0f", "a\\u200bb\\u00adc\\ufeffd\\u115fe\\ufe0f"],
  ["\u2028\u2029\r\n", "\\u2028\\u2029\\u000d\\u000a"],
  ["\u{e0041}\ud800\ue000\uffff", "\\udb40\\udc41\\ud800\\ue000\\uffff"],
];
for (const [text, shown] of table) {
  Deno.test(`printable() of ${JSON.stringify(shown)}`, () => assert.equal(printable(text), shown));
}

Deno.test("printable() escapes every Unicode character that controls a terminal, and is idempotent", () => {
  // Only long tests try every character of empty planes.
  for (let code = 0; code <= 0x10ffff; code += !LONG && isInEmptyPlane(code) ? 97 : 1) {
    const shown = printable(String.fromCodePoint(code));
    if (STEERING.test(shown)) assert.fail(code.toString(16));
    if (printable(shown) !== shown) assert.fail(code.toString(16));
  }
});

Deno.test("printable() keeps the meaning of JSON", () => {
  fc.assert(fc.property(fc.string({ unit: CHARACTER }), (text) => {
    assert.equal(JSON.parse(printable(JSON.stringify(text))), text);
  }));
});

Deno.test("printableLines() keeps line feeds, and escapes other control characters", () => {
  assert.equal(printableLines("a\n\x1bb\r\n"), "a\n\\u001bb\\u000d\n");
});

Deno.test("trimCharacters() trims both ends as a regular expression would", () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom(" ", "\t", "a", "\u00e9") }), (text) => {
      assert.equal(trimCharacters(text, " \t"), text.replace(/^[ \t]+/, "").replace(/[ \t]+$/, ""));
      assert.equal(trimEndCharacters(text, " "), text.replace(/ +$/, ""));
    }),
  );
});

Deno.test("counted() uses the singular for one, and the plural for several or none", () => {
  assert.deepEqual([0, 1, 2].map((count) => counted(count, "token", "tokens")), [
    "0 tokens",
    "1 token",
    "2 tokens",
  ]);
});

Deno.test("compare() orders values", () => {
  assert.deepEqual(["b", "a", "B", "", "a"].sort(compare), ["", "B", "a", "a", "b"]);
  assert.deepEqual([3, -1, 10, 3].sort(compare), [-1, 3, 3, 10]);
  assert.deepEqual([true, false, true].sort(compare), [false, true, true]);
  assert.equal(compare("a", "a"), 0);
});

Deno.test("messageOf() returns the message of an error, or any other thrown value as text", () => {
  assert.deepEqual([new RangeError("too far"), "a text", undefined].map(messageOf), [
    "too far",
    "a text",
    "undefined",
  ]);
});
