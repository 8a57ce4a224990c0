import assert from "node:assert/strict";
import { parseDuration } from "../../src/model/duration.ts";

const TEXTS: readonly [text: string, seconds: number | undefined][] = [
  ["90s", 90],
  ["30m", 1800],
  ["12h", 43_200],
  ["7d", 604_800],
  ["0s", undefined],
  ["", undefined],
  ["5", undefined],
  ["h", undefined],
  ["-1h", undefined],
  ["1.5h", undefined],
  ["1 h", undefined],
  ["1H", undefined],
  ["1w", undefined],
  ["1h1m", undefined],
  ["9999999999s", undefined],
  ["1h\n", undefined],
];

for (const [text, seconds] of TEXTS) {
  Deno.test(`parseDuration(${JSON.stringify(text)}) is ${seconds}`, () => {
    assert.equal(parseDuration(text), seconds);
  });
}
