import assert from "node:assert/strict";
import { writeAll } from "../../src/model/write_all.ts";

Deno.test("writeAll() writes everything in order, to what takes a part at a time", async () => {
  const taken: number[] = [];
  const slow = {
    write(bytes: Uint8Array): Promise<number> {
      const part = bytes.subarray(0, 3);
      taken.push(...part);
      return Promise.resolve(part.length);
    },
  };
  await writeAll(slow, Uint8Array.of(1, 2, 3, 4, 5, 6, 7));
  assert.deepEqual(taken, [1, 2, 3, 4, 5, 6, 7]);
  await writeAll(slow, new Uint8Array());
  assert.equal(taken.length, 7);
});
