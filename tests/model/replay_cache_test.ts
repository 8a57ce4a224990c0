import assert from "node:assert/strict";
import fc from "fast-check";
import { PROOFS, ReplayCache, type ReplayEntry } from "../../src/model/replay_cache.ts";

Deno.test("ReplayCache accepts a mark once, from any owner, until the mark has expired", () => {
  let now = 0;
  const seen = new ReplayCache({ all: 20, perOwner: 5 }, () => now);
  assert.equal(seen.note({ owner: "a", key: "1", endsAt: 5000 }), true);
  assert.equal(seen.note({ owner: "a", key: "1", endsAt: 5000 }), false);
  assert.equal(seen.note({ owner: "b", key: "1", endsAt: 5000 }), false);
  assert.equal(seen.note({ owner: "a", key: "2", endsAt: 5000 }), true);
  now = 5000;
  assert.equal(seen.note({ owner: "a", key: "1", endsAt: 9000 }), false);
  now = 6001;
  assert.equal(seen.note({ owner: "b", key: "1", endsAt: 9000 }), true);
});

Deno.test("ReplayCache forgets marks that have expired behind one that lasts longer, such as a logout token", () => {
  let now = 0;
  const seen = new ReplayCache({ all: 20, perOwner: 5 }, () => now);
  assert.equal(seen.note({ owner: "issuer", key: "logout", endsAt: 420_000 }, 20), true);
  assert.equal(takes(seen, "a", 10), 4);
  now = 3001;
  assert.equal(takes(seen, "a", 10, 4000), 4, "what has ended takes no room");
  assert.equal(seen.note({ owner: "issuer", key: "logout", endsAt: 420_000 }, 20), false);
});

/** Notes marks one by one. @returns The number of accepted marks. */
function takes(seen: ReplayCache, owner: string, count: number, endsAt = 2000): number {
  return Array.from({ length: count }, (_, i) => seen.note({ owner, key: `${owner} ${i}`, endsAt }))
    .filter((first) => first).length;
}

Deno.test("ReplayCache refuses marks that do not fit, first those of the owner with the most", () => {
  let now = 0;
  const seen = new ReplayCache({ all: 12, perOwner: 6 }, () => now);
  assert.equal(takes(seen, "a", 10), 4);
  assert.equal(takes(seen, "b", 10), 3);
  assert.equal(takes(seen, "a", 10), 0);
  assert.equal(takes(seen, "c", 1), 1, "others still have room");
  assert.equal(takes(seen, "d", 1), 1);
  assert.equal(["e", "f", "g", "h"].reduce((sum, owner) => sum + takes(seen, owner, 1), 0), 3, "full");
  now = 3001;
  assert.equal(takes(seen, "a", 10, 4000), 4, "what has ended takes no room");
});

Deno.test("ReplayCache has room for a hundred modest users after a hundred have filled their quotas", () => {
  const seen = new ReplayCache(PROOFS, () => 0);
  for (let user = 0; user < 100; user++) takes(seen, `greedy ${user}`, PROOFS.perOwner);
  for (let user = 0; user < 100; user++) assert.equal(takes(seen, `modest ${user}`, 5), 5);
});

Deno.test("ReplayCache never accepts a mark twice before it expires, and never exceeds its size", () => {
  const step = fc.record({
    owner: fc.constantFrom("a", "b", "c"),
    key: fc.nat(15).map(String),
    lasts: fc.nat(3000),
    passes: fc.nat(900),
  });
  fc.assert(fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
    let now = 0;
    const seen = new ReplayCache({ all: 6, perOwner: 4 }, () => now);
    const ends = new Map<string, number>();
    for (const { owner, key, lasts, passes } of steps) {
      now += passes;
      if (seen.note({ owner, key, endsAt: now + lasts })) {
        assert((ends.get(key) ?? -1) < now);
        ends.set(key, now + lasts);
      }
      assert(seen.seen().length <= 6);
    }
  }));
});

Deno.test("ReplayCache reports each mark once, and adopts marks without a report", () => {
  let now = 0;
  const told: ReplayEntry[] = [];
  const before = new ReplayCache({ all: 10, perOwner: 2 }, () => now, (seen) => told.push(seen));
  for (const [owner, key, endsAt] of [["a", "1", 1000], ["a", "2", 5000], ["b", "3", 5000]] as const) {
    before.note({ owner, key, endsAt });
  }
  before.note({ owner: "a", key: "2", endsAt: 9000 });
  assert.deepEqual(told, before.seen());
  now = 1001;
  assert.deepEqual(before.seen().map(({ owner, key }) => `${owner} ${key}`), ["a 2", "b 3"]);

  const after = new ReplayCache({ all: 2, perOwner: 1 }, () => now, () => assert.fail("told again"));
  after.adopt(told);
  after.adopt(structuredClone(told));
  assert.deepEqual(after.seen(), before.seen());
  for (const key of ["2", "3"]) assert.equal(after.note({ owner: "c", key, endsAt: 9000 }), false);
});
