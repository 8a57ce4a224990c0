import assert from "node:assert/strict";
import { Progress } from "../../src/command/progress.ts";

Deno.test("Progress prints what is done and the time left, every five seconds at most", () => {
  let now = 0.5;
  const lines: string[] = [];
  const progress = new Progress("Shares", 1000, (line) => lines.push(line), () => now);
  const report = (after: number, done: number) => {
    now += after;
    progress.report(done);
    return lines.splice(0);
  };
  assert.deepEqual(report(4999, 90), []);
  assert.deepEqual(report(1, 100), ["Shares: 100 of 1000, about 45 s left\n"]);
  assert.deepEqual(report(4000, 300), []);
  assert.deepEqual(report(1000, 500), ["Shares: 500 of 1000, about 10 s left\n"]);
  assert.deepEqual(report(5000, 1001), ["Shares: 1001 of 1000, about 0 s left\n"], "more came meanwhile");
});

Deno.test("Progress prints nothing before anything is done", () => {
  let now = 0;
  const progress = new Progress("Shares", 1000, () => assert.fail("there is no speed yet"), () => now);
  now = 60_000;
  progress.report(0);
});
