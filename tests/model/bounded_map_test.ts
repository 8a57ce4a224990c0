import assert from "node:assert/strict";
import fc from "fast-check";
import { BoundedMap } from "../../src/model/bounded_map.ts";

Deno.test("BoundedMap forgets the least recently used value", () => {
  const map = new BoundedMap<string, number>(4);
  for (const [value, key] of ["a", "b", "c"].entries()) map.set(key, value);
  assert.equal(map.get("a"), 0);
  map.set("d", 3);
  map.set("a", 4);
  assert.deepEqual(["a", "b", "c", "d"].map((key) => map.get(key)), [4, undefined, 2, 3]);
  map.delete("a");
  assert.equal(map.get("a"), undefined);
  map.clear();
  assert.equal(map.get("d"), undefined);
});

Deno.test("BoundedMap keeps the last values of the most recently used half, and never exceeds its size", () => {
  const use = fc.record({ key: fc.integer({ min: 0, max: 20 }), value: fc.option(fc.nat()) });
  fc.assert(fc.property(fc.array(use, { maxLength: 60 }), fc.integer({ min: 2, max: 10 }), (uses, size) => {
    const map = new BoundedMap<number, number>(size);
    const written = new Map<number, number>();
    const found = (key: number) => map.get(key) === undefined ? [] : [map.get(key)];
    let last: number[] = [];
    for (const { key, value } of uses) {
      if (value !== null) {
        map.set(key, value);
        written.set(key, value);
      } else if (last.includes(key)) assert.deepEqual(found(key), [written.get(key)]);
      else assert(found(key).every((each) => each === written.get(key)));
      if (value !== null || found(key).length > 0) {
        last = [...last.filter((other) => other !== key), key].slice(-(size >> 1));
      }
    }
    assert(Array.from({ length: 21 }, (_, key) => key).flatMap(found).length <= size);
  }));
});

Deno.test("BoundedMap computes an absent value once, and stores nothing if that fails", () => {
  const map = new BoundedMap<string, number>(2);
  assert.throws(() => map.getOrInsertComputed("a", () => assert.fail("no value")), /no value/);
  assert.equal(map.getOrInsertComputed("a", (key) => key.length), 1);
  assert.equal(map.getOrInsertComputed("a", () => assert.fail("made again")), 1);
});
