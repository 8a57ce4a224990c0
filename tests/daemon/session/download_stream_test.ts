import assert from "node:assert/strict";
import { chunkBytes, downloadStream } from "../../../src/daemon/session/download_stream.ts";
import { SESSION_TIMES } from "../../../src/daemon/session/session_times.ts";

const LENGTH = 1024 ** 3;

/** A download of more than anybody reads, of zeros that come as fast as they are taken. */
function download(): ReadableStreamDefaultReader<Uint8Array> {
  const data = { read: (into: Uint8Array) => Promise.resolve(into.length), close: () => {} };
  return downloadStream(data, LENGTH, {
    confirm: () => Promise.resolve(),
    done: () => {},
    times: SESSION_TIMES,
  }).getReader();
}

Deno.test("chunkBytes() is 64 KiB for few downloads, and never less than 16", () => {
  for (const few of [1, 20, 32]) assert.equal(chunkBytes(few), 64 * 1024);
  assert.equal(chunkBytes(64), 32 * 1024);
  for (const many of [128, 100_000]) assert.equal(chunkBytes(many), 16 * 1024);
});

Deno.test("downloadStream() gives small chunks while many downloads are open, and large ones again after them", async () => {
  const readers = Array.from({ length: 150 }, download);
  const [last, ...others] = readers;
  assert(last !== undefined);
  assert.equal((await last.read()).value?.length, 16 * 1024);
  await Promise.all(others.map((reader) => reader.cancel()));
  assert.equal((await last.read()).value?.length, 64 * 1024);
  await last.cancel();
});
