import assert from "node:assert/strict";
import { type SeenMark, SeenOnce } from "../../src/model/seen_once.ts";

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

Deno.test("SeenOnce hands on what it has seen, and takes it over without telling again", () => {
  let now = 0;
  const told: SeenMark[] = [];
  const before = new SeenOnce({ all: 10, perOwner: 2 }, () => now, (seen) => told.push(seen));
  for (const [owner, mark, endsAt] of [["a", "1", 1000], ["a", "2", 5000], ["b", "1", 5000]] as const) {
    before.note(owner, mark, endsAt);
  }
  before.note("a", "2", 9000);
  assert.deepEqual(told, before.seen());
  now = 1001;
  assert.deepEqual(before.seen().map(({ owner, mark }) => `${owner} ${mark}`), ["a 2", "b 1"]);

  const after = new SeenOnce({ all: 10, perOwner: 2 }, () => now, () => assert.fail("told again"));
  after.adopt(told);
  after.adopt(structuredClone(told));
  assert.deepEqual(after.seen(), before.seen());
  assert.equal(after.note("a", "2", 9000), false);
});
