import assert from "node:assert/strict";
import { InvalidLine, readLine } from "../../../src/workers/control/line_reader.ts";

/** A connection on which these parts arrive one by one, and then its end. */
function arriving(...parts: readonly string[]): Pick<Deno.Conn, "read"> {
  const left = parts.map((part) => new TextEncoder().encode(part));
  return {
    read: (buffer) => {
      const part = left.shift();
      if (part !== undefined) buffer.set(part);
      return Promise.resolve(part?.length ?? null);
    },
  };
}

for (const parts of [["status\n"], ["sta", "tus\n"], ["status", "\n"], ["s", "tatus\nrest"]]) {
  Deno.test(`readLine() reads one line that comes as ${JSON.stringify(parts)}`, async () => {
    assert.equal(await readLine(arriving(...parts), 6), "status");
  });
}

Deno.test("readLine() refuses what is too long, cut off or not UTF-8", async () => {
  await assert.rejects(readLine(arriving("statuses\n"), 7), InvalidLine);
  await assert.rejects(readLine(arriving("stat"), 7), /cut off/);
  await assert.rejects(
    readLine({
      read: (buffer) => {
        buffer.set([0xff, 0x0a]);
        return Promise.resolve(2);
      },
    }, 7),
    /not UTF-8/,
  );
});
