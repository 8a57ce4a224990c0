import assert from "node:assert/strict";
import { readListing } from "../../../src/daemon/session/read_listing.ts";

const line = (name: string) => `type=file;size=1; ${name}`;

/** Reads a listing that arrives in pieces of `piece` bytes. */
async function read(text: string | Uint8Array, piece: number | ((at: number) => number) = 65_536) {
  const bytes = typeof text === "string" ? new TextEncoder().encode(text) : text;
  let at = 0;
  const names: string[] = [];
  const waits = new Set<number>();
  const rest = await readListing(
    {
      read(into, ms) {
        waits.add(ms);
        if (at >= bytes.length) return Promise.resolve(null);
        const part = bytes.subarray(
          at,
          at + Math.min(typeof piece === "number" ? piece : piece(at), into.length),
        );
        into.set(part);
        at += part.length;
        return Promise.resolve(part.length);
      },
    },
    4711,
    ({ name }) => void names.push(name),
  );
  assert.deepEqual([...waits], [4711]);
  return { ...rest, names, taken: at };
}

for (const piece of [1, 2, 7, 65_536]) {
  Deno.test(`readListing() reads lines with either line end, the last without one, in pieces of ${piece} bytes`, async () => {
    const text = `${line("one")}\r\n${line("zwö\u{1f600}")}\n\n${line("a b")}\r\n${line("last")}`;
    const { names, complete, unreadable } = await read(text, piece);
    assert.deepEqual([names, complete, unreadable], [["one", "zwö\u{1f600}", "a b", "last"], true, 0]);
  });
}

Deno.test("readListing() skips the directory itself, its parent and invalid lines, and counts them", async () => {
  const lines = [
    line("."),
    line(".."),
    line("..."),
    line("a/b"),
    line("x\ty"),
    "nonsense",
    "type=file;size=x; n",
    line("n".repeat(1024)),
    line("m".repeat(1025)),
    line("ok"),
  ];
  const { names, unreadable } = await read(`${lines.join("\n")}\n`);
  assert.deepEqual(names, ["...", "n".repeat(1024), "ok"]);
  assert.equal(unreadable, 7);
});

Deno.test("readListing() refuses an endless line, and reads one of 4096 characters", async () => {
  const longest = `type=file;size=1;${"x".repeat(4096 - 17 - 3)}; y`;
  assert.equal(longest.length, 4096);
  assert.deepEqual((await read(`${longest}\n`, 100)).names, ["y"]);
  await assert.rejects(read("x".repeat(5000), 100), { code: "ERR_DAEMON_SESSION" });
});

Deno.test("readListing() truncates a listing after 100,000 lines", async () => {
  const lines = (count: number) => `${line("n")}\n`.repeat(count);
  // The reader counts lines after each piece, here after each of the last lines.
  const one = line("n").length + 1;
  const piece = (at: number) => at < 99_000 * one ? 1000 * one : one;
  const whole = await read(lines(100_000), piece);
  assert.deepEqual([whole.complete, whole.names.length], [true, 100_000]);
  const cut = await read(lines(100_002), piece);
  assert.deepEqual([cut.complete, cut.names.length], [false, 100_001]);
});

Deno.test("readListing() truncates a listing after 32 MiB", async () => {
  const long = `${line("n").replace(" ", `x=${"y".repeat(4000)}; `)}\n`;
  const text = long.repeat(Math.ceil(33 * 1024 * 1024 / long.length));
  const { complete, taken } = await read(text);
  assert.equal(complete, false);
  assert.equal(taken, 32 * 1024 * 1024 + 65_536);
});
