import assert from "node:assert/strict";
import { parseDuration } from "../../../src/command/running/duration.ts";
import { formatDuration } from "../../../src/command/running/status_text.ts";

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

Deno.test("formatDuration() shows the two greatest units", () => {
  const shown = [0, 59, 60, 3661, 90_061, 864_000].map(formatDuration);
  assert.deepEqual(shown, ["0 s", "59 s", "1 min 0 s", "1 h 1 min", "1 d 1 h", "10 d 0 h"]);
});
