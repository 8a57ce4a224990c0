import assert from "node:assert/strict";
import { HeaderList } from "../../../../src/model/http_message.ts";
import { parseUploadRange } from "../../../../src/resource/access/drop/upload_range.ts";

const read = (range: string | undefined, length?: string) =>
  parseUploadRange(HeaderList.of({
    ...(range !== undefined && { "Content-Range": range }),
    ...(length !== undefined && { "Content-Length": length }),
  }));

Deno.test("parseUploadRange() reads a whole file, a piece, and a request for the offset", () => {
  assert.deepEqual(read(undefined), { kind: "whole", length: undefined });
  assert.deepEqual(read(undefined, "12"), { kind: "whole", length: 12 });
  assert.deepEqual(read("bytes 2-5/10"), { kind: "piece", first: 2, length: 4, total: 10 });
  assert.deepEqual(read("bytes 0-9/10", "10"), { kind: "piece", first: 0, length: 10, total: 10 });
  assert.deepEqual(read("bytes */10", "0"), { kind: "question", total: 10 });
});

const BAD: readonly (readonly [string, string?])[] = [
  ["bytes 5-2/10"],
  ["bytes 2-10/10"],
  ["bytes 2-5/*"],
  ["bytes 2-5"],
  ["items 2-5/10"],
  ["bytes=2-5/10"],
  ["bytes 2-5/10, bytes 6-7/10"],
  ["bytes -5-2/10"],
  ["bytes 2-5/9999999999999999"],
  ["bytes 2-5/10", "3"],
  [""],
];
for (const [range, length] of BAD) {
  Deno.test(`parseUploadRange() refuses "${range}"${length ? ` with ${length} bytes` : ""}`, () => {
    assert.throws(() => read(range, length), { code: "ERR_INVALID_REQUEST" });
  });
}

Deno.test("parseUploadRange() refuses a body that is too long to count", () => {
  assert.deepEqual(read(undefined, String(2 ** 50)), { kind: "whole", length: 2 ** 50 });
  for (const length of [String(2 ** 50 + 1), "9999999999999999", "9".repeat(32)]) {
    for (const range of [undefined, "bytes 2-5/10", "bytes */10"]) {
      assert.throws(() => read(range, length), { code: "ERR_INVALID_REQUEST" }, `${range} ${length}`);
    }
  }
});
