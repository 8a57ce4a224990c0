import assert from "node:assert/strict";
import fc from "fast-check";
import { InvalidArchive, tarEntries } from "../../../src/command/files/migration/tar_entries.ts";

/** An archive of one file, as ustar has it. */
function archiveOf(path: string, content: string): Uint8Array {
  const archive = new Uint8Array(512 + Math.ceil(content.length / 512) * 512 + 1024);
  const put = (at: number, text: string) => archive.set(new TextEncoder().encode(text), at);
  const octal = (value: number, digits: number) => `${value.toString(8).padStart(digits, "0")}\0`;
  put(0, path);
  put(100, octal(0o640, 7));
  put(124, octal(content.length, 11));
  put(148, "        ");
  put(156, "0");
  put(257, "ustar\x0000");
  put(148, octal(archive.subarray(0, 512).reduce((sum, byte) => sum + byte, 0), 6));
  put(512, content);
  return archive;
}

const GOOD = archiveOf("java/conf/container.properties", "a=b\n");

Deno.test("tarEntries() gives path, mode and content", () => {
  const [entry, ...more] = tarEntries(GOOD);
  assert.deepEqual(more, []);
  assert.equal(entry?.path, "java/conf/container.properties");
  assert.equal(entry.mode, 0o640);
  assert.equal(new TextDecoder().decode(entry.content), "a=b\n");
});

Deno.test("tarEntries() of whatever bytes give files or their own error", () => {
  const changed = fc.tuple(fc.nat(GOOD.length - 1), fc.nat(255)).map(([at, byte]) => GOOD.with(at, byte));
  const cut = fc.nat(GOOD.length).map((length) => GOOD.subarray(0, length));
  fc.assert(fc.property(fc.oneof(changed, cut, fc.uint8Array({ maxLength: 2048 })), (archive) => {
    try {
      for (const { path, content } of tarEntries(archive)) {
        assert(typeof path === "string" && content.length <= archive.length);
      }
    } catch (error) {
      if (!(error instanceof InvalidArchive)) throw error;
    }
  }));
});

Deno.test("tarEntries() takes an archive that ends with one empty block, and none that is a byte shorter", () => {
  const archive = archiveOf("a", "x".repeat(512)).subarray(0, 3 * 512);
  assert.deepEqual([...tarEntries(archive)].map(({ content }) => content.length), [512]);
  assert.throws(() => [...tarEntries(archive.subarray(0, -1))], InvalidArchive);
});
