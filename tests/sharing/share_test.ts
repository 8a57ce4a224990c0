import assert from "node:assert/strict";
import { isOver } from "../../src/sharing/share.ts";
import { DRAFT } from "./store/conformance.ts";

/** The end in seconds, how many uses are left, the clock in milliseconds, and whether the share is over. */
const ENDS:
  readonly (readonly [expires: number, usesLeft: number | undefined, now: number, over: boolean])[] = [
    [0, undefined, 5_000_000, false],
    [0, 1, 5_000_000, false],
    [0, 0, 5_000_000, true],
    [5000, undefined, 4_999_999, false],
    [5000, undefined, 5_000_999, false],
    [5000, undefined, 5_001_000, true],
    [5000, 1, 5_001_000, true],
    [5000, 0, 0, true],
  ];
for (const [expires, usesLeft, now, over] of ENDS) {
  Deno.test(`isOver() of a share until ${expires} s with ${usesLeft ?? "all"} uses left is ${over} at ${now} ms`, () => {
    assert.equal(isOver({ ...DRAFT, expires, ...(usesLeft !== undefined && { usesLeft }) }, now), over);
  });
}
