import assert from "node:assert/strict";
import fc from "fast-check";
import { eachLine, TimeSlicer } from "../../src/model/time_slicing.ts";

Deno.test("TimeSlicer yields once a step has lasted long enough, then starts a new step", async () => {
  const steps = new TimeSlicer();
  while (!steps.shouldYield);
  let others = 0;
  setTimeout(() => others++, 0);
  while (others === 0) {
    if (steps.shouldYield) await steps.yield();
  }
  let beganAnew = false; // a busy machine may take the processor away for a whole step
  for (let left = 100; left > 0 && !beganAnew; left--) {
    await steps.yield();
    beganAnew = !steps.shouldYield;
  }
  assert.equal(beganAnew, true);
});

Deno.test("eachLine() splits at line ends, numbers the lines and removes a byte order mark", async () => {
  const unit = fc.constantFrom("a", "\n", "\r", "\ufeff");
  await fc.assert(fc.asyncProperty(fc.string({ unit }), async (text) => {
    const seen: [string, number][] = [];
    await eachLine(text, (line, number) => void seen.push([line, number]));
    const lines = text.replace(/^\ufeff/, "").split("\n").map((line) => line.replace(/\r$/, ""));
    assert.deepEqual(seen, lines.map((line, at) => [line, at + 1]));
  }));
});

Deno.test("eachLine() reads a few lines at once: only long texts yield to the event loop", async () => {
  let others = 0;
  setImmediate(() => others++);
  await eachLine("one\ntwo\nthree", () => {});
  assert.equal(others, 0);
});
