import assert from "node:assert/strict";

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
