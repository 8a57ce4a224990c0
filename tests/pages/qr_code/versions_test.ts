import assert from "node:assert/strict";
import { versionFor } from "../../../src/pages/qr_code/versions.ts";

/** Bytes that versions 1 to 20 hold with correction of level M (ISO/IEC 18004, table 7). */
const BYTES = [
  [14, 26, 42, 62, 84, 106, 122, 152, 180, 213],
  [251, 287, 331, 362, 412, 450, 504, 560, 624, 666],
].flat();

Deno.test("versionFor() takes the smallest version that holds a text", () => {
  for (const [i, bytes] of BYTES.entries()) {
    assert.equal(versionFor(bytes)?.number, i + 1);
    assert.equal(versionFor(bytes + 1)?.number, i === 19 ? undefined : i + 2);
  }
  assert.equal(versionFor(0)?.number, 1);
});

/** Middles of alignment patterns (table E.1). */
const ALIGNMENT: Readonly<Record<number, readonly number[]>> = {
  1: [],
  2: [6, 18],
  6: [6, 34],
  7: [6, 22, 38],
  13: [6, 34, 62],
  14: [6, 26, 46, 66],
  15: [6, 26, 48, 70],
  16: [6, 26, 50, 74],
  18: [6, 30, 56, 82],
  20: [6, 34, 62, 90],
};

Deno.test("versions have their size, and alignment patterns where the standard has them", () => {
  for (const [number, alignment] of Object.entries(ALIGNMENT)) {
    const version = versionFor(BYTES[Number(number) - 1] ?? 0);
    assert.deepEqual(version?.alignment, alignment, number);
    assert.equal(version?.size, 17 + 4 * Number(number));
  }
});
