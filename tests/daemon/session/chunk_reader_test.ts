import assert from "node:assert/strict";
import { chunkBytes, ChunkReader } from "../../../src/daemon/session/chunk_reader.ts";

const MS = 10_000;

/** Returns a data connection that delivers `left` zeros, at most `atOnce` at a time. */
function connection(
  atOnce: number,
  left: number,
): { read(into: Uint8Array): Promise<number | null>; close(): void } {
  return {
    read(into) {
      const count = Math.min(into.length, atOnce, left);
      left -= count;
      return Promise.resolve(count === 0 ? null : count);
    },
    close() {},
  };
}

/** Returns a reader of an endless connection. */
const endless = () => new ChunkReader(connection(Infinity, Infinity));

Deno.test("chunkBytes() is 64 KiB for few connections, and never less than 16 KiB", () => {
  for (const few of [1, 5, 8]) assert.equal(chunkBytes(few), 64 * 1024);
  assert.equal(chunkBytes(16), 32 * 1024);
  for (const many of [32, 100_000]) assert.equal(chunkBytes(many), 16 * 1024);
});

Deno.test("ChunkReader returns small chunks while many readers are open, and large ones after they close, even twice", async () => {
  const [last, ...others] = Array.from({ length: 150 }, endless);
  assert(last !== undefined);
  assert.equal((await last.read(Infinity, MS))?.length, 16 * 1024);
  for (const reader of [...others, ...others]) reader.close();
  assert.equal((await last.read(Infinity, MS))?.length, 64 * 1024);
  last.close();
});

Deno.test("ChunkReader returns at most the requested bytes, all bytes, and then the end", async () => {
  for (const [atOnce, left] of [[1, 100], [7, 100_000], [16 * 1024, 200_000], [40_000, 200_000]] as const) {
    const reader = new ChunkReader(connection(atOnce, left));
    let sum = 0;
    for (const most of [1, 10]) {
      const few = (await reader.read(most, MS))?.length ?? 0;
      assert(few > 0 && few <= most);
      sum += few;
    }
    for (let chunk; (chunk = await reader.read(Infinity, MS)) !== undefined;) {
      assert(chunk.length > 0);
      sum += chunk.length;
      // A chunk that waits to be sent keeps at most twice its bytes in memory.
      assert(chunk.buffer.byteLength <= 2 * chunk.length);
    }
    assert.equal(sum, left);
    reader.close();
  }
});
