import assert from "node:assert/strict";
import { GuardRemoval } from "./guard_removal.ts";
import { guardsOf, withSwitches } from "./mutant.ts";
import { TreeCopy } from "./tree_copy.ts";

const SOURCE = `
export function half(value: number): number {
  if (value < 0) throw new RangeError("negative"); // 0: tested
  if (value === 0) return 0; // 1: does nothing
  if (value > 1e6) return Infinity; // 2: no test comes here
  return value / 2;
}
export async function wait(none: boolean): Promise<string> {
  if (none) return "none"; // 3: without it, the test waits for ever
  return await new Promise(() => {});
}
export function loop(end: boolean): string {
  for (;;) if (end) return "end"; // 4: without it, the process is busy for ever
}
const seen = new Set<string>();
export function once(name: string): boolean {
  if (seen.has(name)) return false; // 5: without it, the next test fails in this process for ever
  if (name === "") throw new RangeError("empty"); // 6: removed after that
  seen.add(name);
  return true;
}
`;
const TESTS = `
import { half, loop, once, wait } from "../src/half.ts";
const is = (a: unknown, b: unknown) => { if (a !== b) throw new Error(a + " is not " + b); };
const fails = (f: () => unknown) => { try { f(); } catch { return; } throw new Error("nothing failed"); };
Deno.test("half() refuses what is negative", () => fails(() => half(-1)));
Deno.test({ name: "half() of nothing", fn: () => is(half(0), 0) });
Deno.test("wait() ends", async (t) => { await t.step("at once", async () => is(await wait(true), "none")); });
Deno.test("loop() ends", () => is(loop(true), "end"));
let left = false;
Deno.test("once() is true once", () => {
  const name = crypto.randomUUID();
  is(left, false);
  left = true;
  is(once(name), true);
  is(once(name), false);
  left = false;
});
Deno.test("once() needs a name", () => { is(left, false); fails(() => once("")); });
Deno.test("always fails", () => { half(0); throw new Error("always"); });
`;

Deno.test("GuardRemoval tells which test notices each guard, which are reached, and that a hang notices nothing", async () => {
  await using tree = await TreeCopy.make();
  await tree.change("src/half.ts", withSwitches(SOURCE, String));
  await tree.change("tests/half_test.ts", TESTS);
  const guards = guardsOf(SOURCE).map((_, at) => String(at));
  assert.equal(guards.length, 7);
  const removal = new GuardRemoval(["tests/half_test.ts"], guards, { patienceMs: 1_000, moreMs: 1_000 });
  const found = await removal.run(tree);
  const facts = guards.map((guard) => {
    const { noticedBy, reachedBy, late } = found.get(guard) ?? {};
    return [noticedBy?.replace("tests/half_test.ts: ", ""), reachedBy, late];
  });
  assert.deepEqual(facts, [
    ["half() refuses what is negative", 1, false],
    [undefined, 2, false],
    [undefined, 0, false],
    [undefined, 1, true],
    [undefined, 1, true],
    ["once() is true once", 1, false],
    ["once() needs a name", 1, false],
  ]);
  assert.deepEqual(removal.failing, ["tests/half_test.ts 6"]);
});
