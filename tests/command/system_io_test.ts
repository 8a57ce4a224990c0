import assert from "node:assert/strict";
import fc from "fast-check";
import { PassThrough } from "node:stream";
import { readSecretLine } from "../../src/command/system_io.ts";
import { PRINTABLE } from "../fixtures/character.ts";

const MODULE = JSON.stringify(new URL("../../src/command/system_io.ts", import.meta.url));

/** Runs code in a process with this standard input. @returns Its output. */
async function run(input: Uint8Array, code: string): Promise<{ readonly out: string; readonly err: string }> {
  const child = new Deno.Command(Deno.execPath(), {
    args: ["eval", `import { SYSTEM_IO } from ${MODULE}; ${code}`],
    stdin: "piped",
    stdout: "piped",
    stderr: "piped",
    env: { NO_COLOR: "1" },
  }).spawn();
  const writer = child.stdin.getWriter();
  await writer.write(input).catch(() => {}); // the process may have read enough
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
  ["the maximum length", letters(65_536), "65536 aaaaaaaaa"],
  ["one byte more", letters(65_537), "Error: Expected at most 65536 bytes on standard input"],
  ["invalid UTF-8", Uint8Array.of(0x61, 0xff), "Error: Expected UTF-8 text"],
];
for (const [what, input, printed] of INPUTS) {
  Deno.test(`SYSTEM_IO reads ${what}`, async () => {
    assert.equal((await run(input, READ)).out, printed);
  });
}

Deno.test("SYSTEM_IO writes a whole text to either stream", async () => {
  const code = `SYSTEM_IO.stdout("ö".repeat(100_000)); SYSTEM_IO.stderr("ü".repeat(100_000));`;
  assert.deepEqual(await run(letters(0), code), { out: "ö".repeat(100_000), err: "ü".repeat(100_000) });
});

/** Runs code in a shell that redirects its output. @returns Exit status and standard error. */
async function redirected(code: string, redirection: string) {
  const { code: status, stderr } = await new Deno.Command("sh", {
    args: [
      "-c",
      `"$0" eval "$1" ${redirection}`,
      Deno.execPath(),
      `import { SYSTEM_IO } from ${MODULE}; ${code}`,
    ],
    env: { NO_COLOR: "1" },
  }).output();
  return [status, new TextDecoder().decode(stderr)];
}

Deno.test("SYSTEM_IO silently ends a command whose reader is gone, as SIGPIPE does", async () => {
  const child = new Deno.Command(Deno.execPath(), {
    args: [
      "eval",
      `import { SYSTEM_IO } from ${MODULE}; await SYSTEM_IO.readInput(); SYSTEM_IO.stdout("x");`,
    ],
    stdin: "piped",
    stdout: "piped",
    stderr: "piped",
    env: { NO_COLOR: "1" },
  }).spawn();
  await child.stdout.cancel(); // the process writes only once its input has ended
  await child.stdin.close();
  assert.deepEqual([(await child.status).code, await new Response(child.stderr).text()], [141, ""]);
});

Deno.test("SYSTEM_IO ends a command whose output device is full, and reports it", async () => {
  const [status, err] = await redirected(
    `SYSTEM_IO.stdout("x"); SYSTEM_IO.stderr("not reached");`,
    "> /dev/full",
  );
  assert.deepEqual(
    [status, err],
    [1, "authserver: Cannot write to standard output: No space left on device (os error 28)\n"],
  );
});

Deno.test("SYSTEM_IO lets a command continue without standard error", async () => {
  const code = `SYSTEM_IO.stderr("x"); Deno.exit(7);`;
  assert.deepEqual(await redirected(code, "2> /dev/full"), [7, ""]);
});

const utf8 = (text: string) => new TextEncoder().encode(text);

const LINES: [what: string, keys: string[], text: string][] = [
  ["a word", ["sesame\r"], "sesame"],
  ["a word key by key", [..."sesame", "\n"], "sesame"],
  ["nothing", ["\r"], ""],
  ["a line with type-ahead", ["one\rtwo\r"], "one"],
  ["backspace", ["sesane\x7f\x7fme\r"], "sesame"],
  ["backspace over a multi-byte character", ["Gr", "ü", "€", "😀", "\x08\x08\x08", "u\r"], "Gru"],
  ["backspace at the beginning", ["\x7f\x7fa\r"], "a"],
  ["erased line", ["wrong\x15right\r"], "right"],
  ["blanks and tabs", [" a\tb \r"], " a\tb "],
];

/** Reads a line from keys, one after the other. */
function typed(...keys: readonly (string | Uint8Array)[]): Promise<string> {
  const input = new PassThrough();
  return readSecretLine(input, () => keys.forEach((key) => input.write(key)));
}

for (const [what, keys, text] of LINES) {
  Deno.test(`readSecretLine() reads ${what}`, async () => assert.equal(await typed(...keys), text));
}

for (
  const [what, keys] of [["Ctrl-C", "sesa\x03"], ["Ctrl-D alone", "\x04"], [
    "other bytes",
    Uint8Array.of(0xff, 13),
  ]] as const
) {
  Deno.test(`readSecretLine() refuses ${what}`, async () => {
    await assert.rejects(typed(keys), {
      message: what === "other bytes" ? "Expected UTF-8 text" : "Cancelled",
    });
  });
}

Deno.test("readSecretLine() reads any printable text in any pieces", async () => {
  const printable = fc.string({ unit: PRINTABLE }).filter((text) => !/[\p{Cc}\ufffd]/u.test(text));
  await fc.assert(fc.asyncProperty(printable, fc.integer({ min: 1, max: 5 }), async (text, size) => {
    const bytes = utf8(`${text}\r`);
    const parts = Array.from(
      { length: Math.ceil(bytes.length / size) },
      (_, i) => bytes.subarray(i * size, (i + 1) * size),
    );
    assert.equal(await typed(...parts), text);
  }));
});
