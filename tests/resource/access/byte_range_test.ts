import assert from "node:assert/strict";
import fc from "fast-check";
import { type ByteRange, parseByteRange } from "../../../src/resource/access/byte_range.ts";

const WHOLE: ByteRange = { kind: "whole" };
const NONE: ByteRange = { kind: "unsatisfiable" };
const part = (first: number, last: number): ByteRange => ({ kind: "part", first, last });

const OF_100_BYTES: [string | null, ByteRange][] = [
  [null, WHOLE],
  ["bytes=2-12", part(2, 12)],
  ["bytes=0-0", part(0, 0)],
  ["bytes=90-", part(90, 99)],
  ["bytes=-10", part(90, 99)],
  ["bytes=-500", part(0, 99)],
  ["bytes=90-500", part(90, 99)],
  ["bytes=0-99999999999999999999999", part(0, 99)],
  ["BYTES=2-12", part(2, 12)],
  ["bytes= 2-12 ", part(2, 12)],
  ["bytes=100-", NONE],
  ["bytes=100-200", NONE],
  ["bytes=99999999999999999999999-", NONE],
  ["bytes=-0", NONE],
  ["bytes=0-1,5-6", WHOLE],
  ["bytes=9-3", WHOLE],
  ["bytes=99999999999999999998-99999999999999999997", WHOLE],
  ["items=0-1", WHOLE],
  ["bytes=-", WHOLE],
  ["bytes=", WHOLE],
  ["bytes=a-b", WHOLE],
  ["bytes=1-2x", WHOLE],
  ["bytes 1-2", WHOLE],
  ["bytes=+1-2", WHOLE],
  ["bytes=--2", WHOLE],
  ["", WHOLE],
];

for (const [header, expected] of OF_100_BYTES) {
  Deno.test(`parseByteRange() of ${header} for 100 bytes`, () => {
    assert.deepEqual(parseByteRange(header, 100), expected);
  });
}

Deno.test("parseByteRange() finds nothing in an empty file", () => {
  for (const header of ["bytes=0-", "bytes=-1", "bytes=0-0"]) {
    assert.deepEqual(parseByteRange(header, 0), NONE);
  }
  assert.deepEqual(parseByteRange(null, 0), WHOLE);
});

Deno.test("parseByteRange() never leaves the file", () => {
  const number = fc.oneof(fc.nat(200), fc.bigInt({ min: 0n, max: 10n ** 30n }), fc.constant(""));
  fc.assert(fc.property(number, number, fc.nat(150), (a, b, size) => {
    const range = parseByteRange(`bytes=${a}-${b}`, size);
    if (range.kind !== "part") return;
    assert.ok(0 <= range.first && range.first <= range.last && range.last < size);
  }));
});

Deno.test("parseByteRange() accepts any text without failing", () => {
  fc.assert(fc.property(fc.string(), (text) => void parseByteRange(text, 10)));
});
