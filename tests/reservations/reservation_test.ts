import assert from "node:assert/strict";
import fc from "fast-check";
import { activeLimit, describeReservations, type Reservation } from "../../src/reservations/reservation.ts";

function reservation(from: number, to: number, rateLimit: number, ...uids: string[]): Reservation {
  return { name: "r", from, to, rateLimit, limitText: String(rateLimit), uids };
}

Deno.test("activeLimit() applies from the first moment to the last", () => {
  const all = [reservation(100, 200, 5, "ann")];
  assert.deepEqual([99, 100, 199, 200].map((at) => activeLimit(all, "bob", at)), [0, 5, 5, 0]);
  assert.deepEqual([99, 100, 199, 200].map((at) => activeLimit(all, undefined, at)), [0, 5, 5, 0]);
  assert.deepEqual([99, 100, 199, 200].map((at) => activeLimit(all, "ann", at)), [0, 0, 0, 0]);
  assert.equal(activeLimit(all, "Ann", 150), 5);
});

Deno.test("activeLimit() of several reservations is the lowest, except for owners of one of them", () => {
  const all = [reservation(0, 100, 9, "ann"), reservation(50, 150, 5, "bob"), reservation(0, 200, 0, "eve")];
  assert.deepEqual([25, 75, 125, 175].map((at) => activeLimit(all, "joe", at)), [9, 5, 5, 0]);
  assert.deepEqual([25, 75, 125, 175].map((at) => activeLimit(all, "ann", at)), [0, 0, 5, 0]);
  assert.deepEqual([25, 75, 125, 175].map((at) => activeLimit(all, "bob", at)), [9, 0, 0, 0]);
});

Deno.test("activeLimit() is either unlimited or the lowest active limit", () => {
  const entry = fc.tuple(fc.nat(20), fc.nat(20), fc.nat(5), fc.subarray(["a", "b", "c"]))
    .map(([from, length, limit, uids]) => reservation(from, from + length + 1, limit, ...uids));
  fc.assert(
    fc.property(fc.array(entry), fc.constantFrom("a", "b", undefined), fc.nat(45), (all, uid, now) => {
      const limit = activeLimit(all, uid, now);
      const active = all.filter(({ from, to }) => now >= from && now < to);
      const owner = active.some(({ uids }) => uid !== undefined && uids.includes(uid));
      if (limit !== 0) assert.ok(!owner && active.some(({ rateLimit }) => rateLimit === limit));
      if (!owner) {
        for (const { rateLimit } of active) assert.ok(rateLimit === 0 || (limit > 0 && limit <= rateLimit));
      }
    }),
  );
});

Deno.test("describeReservations() lists reservations of the account that are not over", () => {
  const from = Date.parse("2026-01-05T20:00:00Z");
  const to = Date.parse("2026-01-05T23:00:00Z");
  const night = { name: "night-run", from, to, uids: ["alice"], rateLimit: 10485760, limitText: "10m" };
  const other = { ...night, name: "other", uids: ["bob", "carol"] };
  const describe = (uid: string, at: number, zone = "UTC") =>
    describeReservations([night, other], { uid, at, zone });

  assert.deepEqual(describe("alice", from - 1), [
    "'night-run': users=[alice] from=Mon Jan 05 20:00:00 UTC 2026 to=Mon Jan 05 23:00:00 UTC 2026 other_users_limit=10m",
  ]);
  assert.deepEqual(describe("carol", to - 1, "Europe/Berlin"), [
    "'other': users=[bob, carol] from=Mon Jan 05 21:00:00 CET 2026 to=Tue Jan 06 00:00:00 CET 2026 other_users_limit=10m",
  ]);
  assert.deepEqual(describe("alice", to), []);
  assert.deepEqual(describe("eve", from), []);
});

Deno.test("describeReservations() shortens every month to three letters", () => {
  for (let month = 0; month < 12; month++) {
    const from = Date.UTC(2026, month, 9, 1);
    const one = { ...reservation(from, from + 1000, 1, "a"), name: "m" };
    assert.match(
      describeReservations([one], { uid: "a", at: from, zone: "UTC" })[0] ?? "",
      /from=\w{3} \w{3} 09 01:00:00 UTC 2026/,
    );
  }
});
