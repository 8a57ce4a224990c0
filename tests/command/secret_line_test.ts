import assert from "node:assert/strict";
import fc from "fast-check";
import { SecretLine, type SecretLineState } from "../../src/command/secret_line.ts";
import { PRINTABLE } from "../fixtures/character.ts";

const utf8 = (text: string) => new TextEncoder().encode(text);

const LINES: [string, string[], SecretLineState, string][] = [
  ["a word", ["sesame\r"], "done", "sesame"],
  ["a word key by key", [..."sesame", "\n"], "done", "sesame"],
  ["nothing", ["\r"], "done", ""],
  ["no end yet", ["ses"], "typing", "ses"],
  ["what is typed ahead", ["one\rtwo\r"], "done", "one"],
  ["backspace", ["sesane\x7f\x7fme\r"], "done", "sesame"],
  [
    "backspace over a character of several bytes",
    ["Gr", "ü", "€", "😀", "\x08\x08\x08", "u\r"],
    "done",
    "Gru",
  ],
  ["backspace at the beginning", ["\x7f\x7fa\r"], "done", "a"],
  ["erased line", ["wrong\x15right\r"], "done", "right"],
  ["Ctrl-C", ["sesa\x03"], "cancelled", "sesa"],
  ["Ctrl-D alone", ["\x04"], "cancelled", ""],
  ["Ctrl-D after text", ["sesame\x04"], "done", "sesame"],
  ["arrow keys", ["ses", "\x1b[D", "\x1b[A", "ame\r"], "done", "sesame"],
  ["blanks and tabs", [" a\tb \r"], "done", " a\tb "],
];

for (const [what, keys, state, text] of LINES) {
  Deno.test(`SecretLine reads ${what}`, () => {
    const line = new SecretLine();
    let last: SecretLineState = "typing";
    for (const key of keys) last = line.type(utf8(key));
    assert.equal(last, state);
    assert.equal(line.text, text);
  });
}

Deno.test("SecretLine refuses what is not UTF-8", () => {
  const line = new SecretLine();
  line.type(new Uint8Array([0xff, 0x0d]));
  assert.throws(() => line.text, TypeError);
});

Deno.test("SecretLine reads any printable text, however its bytes arrive", () => {
  const printable = fc.string({ unit: PRINTABLE }).filter((text) => !/\p{Cc}/u.test(text));
  fc.assert(fc.property(printable, fc.integer({ min: 1, max: 5 }), (text, size) => {
    const line = new SecretLine();
    const bytes = utf8(text);
    for (let i = 0; i < bytes.length; i += size) line.type(bytes.subarray(i, i + size));
    assert.equal(line.type(utf8("\r")), "done");
    assert.equal(line.text, text);
  }));
});
