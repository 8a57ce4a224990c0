import assert from "node:assert/strict";
import fc from "fast-check";
import { SecretLine, type SecretLineState } from "../../src/command/system_io.ts";
import { PRINTABLE } from "../fixtures/character.ts";

const MODULE = JSON.stringify(new URL("../../src/command/system_io.ts", import.meta.url));

/** What a process prints that reads its standard input, and ends with an error's name and message. */
async function run(input: Uint8Array, code: string): Promise<{ readonly out: string; readonly err: string }> {
  const child = new Deno.Command(Deno.execPath(), {
    args: ["eval", `import { SYSTEM_IO } from ${MODULE}; ${code}`],
    stdin: "piped",
    stdout: "piped",
    stderr: "piped",
    env: { NO_COLOR: "1" },
  }).spawn();
  const writer = child.stdin.getWriter();
  await writer.write(input).catch(() => {}); // it may have read enough
  await writer.close().catch(() => {});
  const { stdout, stderr } = await child.output();
  const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
  return { out: text(stdout), err: text(stderr) };
}

const READ = `
  try {
    const text = await SYSTEM_IO.readInput();
    SYSTEM_IO.stdout(text.length + " " + text.slice(0, 9));
  } catch (error) {
    SYSTEM_IO.stdout(error.name + ": " + error.message);
  }`;
const letters = (count: number) => new Uint8Array(count).fill(0x61);

const INPUTS: readonly (readonly [what: string, input: Uint8Array, printed: string])[] = [
  ["nothing", letters(0), "0 "],
  ["a text", new TextEncoder().encode("zwö\u{1f600}\n"), "6 zwö\u{1f600}\n"],
  ["as much as is taken", letters(65_536), "65536 aaaaaaaaa"],
  ["a byte more", letters(65_537), "Error: Expected at most 65536 bytes on standard input"],
  ["no UTF-8", Uint8Array.of(0x61, 0xff), "Error: Expected UTF-8 text"],
];
for (const [what, input, printed] of INPUTS) {
  Deno.test(`SYSTEM_IO reads ${what}`, async () => {
    assert.equal((await run(input, READ)).out, printed);
  });
}

Deno.test("SYSTEM_IO writes all of what it is given, to either stream", async () => {
  const code = `SYSTEM_IO.stdout("ö".repeat(100_000)); SYSTEM_IO.stderr("ü".repeat(100_000));`;
  assert.deepEqual(await run(letters(0), code), { out: "ö".repeat(100_000), err: "ü".repeat(100_000) });
});

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
