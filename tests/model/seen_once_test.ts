import assert from "node:assert/strict";
import { SeenOnce } from "../../src/model/seen_once.ts";

Deno.test("SeenOnce lets a mark of one owner count once, until it could not be used any more", () => {
  let now = 0;
  const seen = new SeenOnce({ all: 10, perOwner: 5 }, () => now);
  assert.equal(seen.note("a", "1", 5000), true);
  assert.equal(seen.note("a", "1", 5000), false);
  assert.equal(seen.note("b", "1", 5000), true);
  assert.equal(seen.note("a", "2", 5000), true);
  now = 5000;
  assert.equal(seen.note("a", "1", 9000), false);
  now = 6001;
  assert.equal(seen.note("a", "1", 9000), true);
});

Deno.test("SeenOnce takes what it has no room for as seen, and one owner takes no room of others", () => {
  let now = 0;
  const seen = new SeenOnce({ all: 5, perOwner: 3 }, () => now);
  const noted = (owner: string, count: number) =>
    Array.from({ length: count }, (_, i) => seen.note(owner, `${i}`, 2000)).filter((first) => first).length;
  assert.equal(noted("a", 10), 3);
  assert.equal(noted("b", 10), 2);
  assert.equal(noted("c", 1), 0);
  now = 3001;
  assert.equal(seen.note("c", "0", 4000), true);
});
