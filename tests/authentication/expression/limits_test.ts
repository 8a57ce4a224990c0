import assert from "node:assert/strict";
import { compileExpression } from "../../../src/authentication/expression/expression.ts";
import { MAX_STEPS, MAX_TEXT } from "../../../src/authentication/expression/tokenizer.ts";

const run = (source: string, values: Readonly<Record<string, string>>) =>
  compileExpression(source).text(new Map(Object.entries(values)));

Deno.test("an expression makes text of at most MAX_TEXT characters", () => {
  const half = "x".repeat(MAX_TEXT / 2);
  assert.equal(run("a + a", { a: half })?.length, MAX_TEXT);
  assert.throws(() => run("a + b", { a: half, b: `${half}x` }), /makes a text longer than 65536 characters/);
});

Deno.test("an expression takes a step for each 64 characters of text that it makes", () => {
  /** Returns an expression that makes a text of half the limit `times` times. */
  const source = (times: number) => `${"b = a + a; ".repeat(times)}'done'`;
  const a = "x".repeat(MAX_TEXT / 4);
  const most = Math.floor(MAX_STEPS / (MAX_TEXT / 2 / 64));
  assert.equal(run(source(most - 2), { a }), "done");
  assert.throws(() => run(source(most + 1), { a }), /takes more than 10000 steps/);
  // Ten times as many short texts cost next to nothing.
  assert.equal(run(source(10 * most), { a: "x" }), "done");
});
