import assert from "node:assert/strict";
import fc from "fast-check";
import { BoundedMap } from "../../src/model/bounded_map.ts";

Deno.test("BoundedMap forgets what was unused for longest", () => {
  const map = new BoundedMap<string, number>(2);
  map.set("a", 1);
  map.set("b", 2);
  assert.equal(map.get("a"), 1);
  map.set("c", 3);
  assert.deepEqual([map.get("a"), map.get("b"), map.get("c")], [1, undefined, 3]);
  map.set("a", 4);
  map.set("d", 5);
  assert.deepEqual([map.get("a"), map.get("c"), map.get("d")], [4, undefined, 5]);
  map.delete("a");
  assert.equal(map.get("a"), undefined);
});

Deno.test("BoundedMap holds the last of the keys used, whatever the order of use", () => {
  const use = fc.record({ key: fc.integer({ min: 0, max: 9 }), write: fc.boolean() });
  fc.assert(fc.property(fc.array(use), fc.integer({ min: 1, max: 5 }), (uses, size) => {
    const map = new BoundedMap<number, number>(size);
    let model: number[] = [];
    for (const { key, write } of uses) {
      if (write) map.set(key, key);
      else assert.equal(map.get(key), model.includes(key) ? key : undefined);
      if (write || model.includes(key)) model = [...model.filter((other) => other !== key), key].slice(-size);
    }
  }));
});

Deno.test("BoundedMap makes a value that is absent once, and keeps none whose making fails", () => {
  const map = new BoundedMap<string, number>(2);
  assert.throws(() => map.getOrInsertComputed("a", () => assert.fail("no value")), /no value/);
  assert.equal(map.getOrInsertComputed("a", (key) => key.length), 1);
  assert.equal(map.getOrInsertComputed("a", () => assert.fail("made again")), 1);
  map.set("b", 2);
  map.getOrInsertComputed("a", () => 3);
  map.set("c", 3);
  assert.deepEqual([map.get("a"), map.get("b"), map.get("c")], [1, undefined, 3]);
});
