import assert from "node:assert/strict";
import process from "node:process";
import { garbageCollector } from "../../src/workers/collect_garbage.ts";

/** Fills the heap with at least 40 MiB of garbage. */
function litter(): void {
  const kept: unknown[] = [];
  for (let i = 0; i < 400_000; i++) kept.push({ i, text: `${i}`, list: [i, i, i] });
  assert.equal(kept.length, 400_000);
}

Deno.test({
  name: "garbageCollector() frees memory once the heap has grown",
  ignore: !("gc" in globalThis), // the suite and the program run with --expose-gc
  fn() {
    const collect = garbageCollector();
    const size = () => process.memoryUsage().heapTotal;
    collect();
    const before = size();
    litter();
    const littered = size();
    assert(littered > before * 1.5);
    collect();
    assert(size() < littered * 0.8, `${littered} -> ${size()}`);
    const rest = size();
    collect();
    assert.equal(size(), rest, "nothing to do");
  },
});
