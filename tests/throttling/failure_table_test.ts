import assert from "node:assert/strict";
import fc from "fast-check";
import { FailureTable, type WaitPolicy } from "../../src/throttling/failure_table.ts";

const POLICY: WaitPolicy = { free: 2, baseMs: 1000, maxMs: 16_000, windowMs: 60_000, maxInFlight: 4 };

function create(capacity = 1000, policy: Partial<WaitPolicy> = {}) {
  const clock = { now: 1_000_000 };
  const table = new FailureTable<string>({
    policy: { ...POLICY, ...policy },
    capacity,
    elapsed: () => clock.now,
  });
  return {
    table,
    clock,
    fail: (key: string, times = 1) => {
      for (let i = 0; i < times; i++) table.fail(key, key);
    },
  };
}

Deno.test("FailureTable grants free failures, then doubles the wait up to the maximum", () => {
  const { table, clock, fail } = create();
  const waits: number[] = [];
  for (let i = 0; i < 9; i++) {
    fail("a");
    const wait = table.state("a").waitMs;
    waits.push(wait);
    clock.now += wait;
    assert.equal(table.state("a").waitMs, 0);
  }
  assert.deepEqual(waits, [0, 0, 1000, 2000, 4000, 8000, 16_000, 16_000, 16_000]);
});

Deno.test("FailureTable counts keys separately", () => {
  const { table, fail } = create();
  fail("a", 5);
  assert.equal(table.state("b").waitMs, 0);
});

Deno.test("FailureTable shortens waits as the clock advances", () => {
  const { table, clock, fail } = create();
  fail("a", 5);
  assert.equal(table.state("a").waitMs, 4000);
  clock.now += 3999;
  assert.equal(table.state("a").waitMs, 1);
  assert.equal(table.waiting().length, 1);
  clock.now += 1;
  assert.equal(table.state("a").waitMs, 0);
  assert.deepEqual(table.waiting(), []);
});

Deno.test("FailureTable never shortens a running wait", () => {
  const { table, clock, fail } = create(1000, { baseMs: 10_000 });
  fail("a", 4);
  assert.equal(table.state("a").waitMs, 16_000);
  clock.now += 1;
  fail("a");
  assert.equal(table.state("a").waitMs, 16_000);
});

Deno.test("FailureTable forgets failures when the window after the last one and its wait is over", () => {
  const { table, clock, fail } = create();
  fail("a", 3);
  clock.now += 1000 + 59_999;
  fail("a"); // the fourth failure: the window has not passed
  assert.equal(table.state("a").waitMs, 2000);
  clock.now += 2000 + 60_000;
  fail("a"); // the first failure again
  assert.equal(table.state("a").waitMs, 0);
});

Deno.test("FailureTable forgets a key, and all whose subject matches", () => {
  const { table, fail } = create();
  fail("a", 5);
  fail("b", 5);
  fail("c", 1);
  table.forget("a");
  assert.equal(table.state("a").waitMs, 0);
  assert.equal(table.forgetWhere((subject) => subject !== "a"), 2);
  assert.equal(table.size, 0);
});

Deno.test("FailureTable limits attempts under way, and allows one at a time after the free failures", () => {
  const { table, clock, fail } = create();
  for (let i = 0; i < 4; i++) {
    assert.equal(table.state("a").full, false);
    table.enter("a");
  }
  assert.equal(table.state("a").full, true);
  table.leave("a");
  assert.equal(table.state("a").full, false);
  for (let i = 0; i < 3; i++) table.leave("a");

  fail("a", 3);
  clock.now += 1000;
  assert.equal(table.state("a").full, false);
  table.enter("a");
  assert.equal(table.state("a").full, true);
  table.leave("a");
  assert.equal(table.state("a").full, false);
});

Deno.test("FailureTable allows one fewer simultaneous attempt for each free failure, but always one", () => {
  const most = (failures: number, policy: Partial<WaitPolicy> = {}) => {
    const { table, clock, fail } = create(10, policy);
    fail("a", failures);
    clock.now += table.state("a").waitMs;
    let attempts = 0;
    for (; !table.state("a").full; attempts++) table.enter("a");
    return attempts;
  };
  assert.deepEqual([0, 1, 2, 3, 4].map((failures) => most(failures)), [4, 3, 1, 1, 1]);
  const narrow = { free: 5, maxInFlight: 3 };
  assert.deepEqual([0, 1, 2, 3, 4, 5].map((failures) => most(failures, narrow)), [3, 2, 1, 1, 1, 1]);
  const wide = { free: 2, maxInFlight: 9 };
  assert.deepEqual([0, 1, 2, 3].map((failures) => most(failures, wide)), [9, 8, 1, 1]);
});

/** Returns a waiter that reports its call, and waits longer than any test. */
function waiter(called: () => void, queueKey = "") {
  return { queueKey, maxWaitMs: 24 * 3_600_000, called, left: () => assert.fail("left the queue") };
}

Deno.test("FailureTable gives turns in order of arrival, one for each attempt that ends", () => {
  const { table } = create();
  const order: string[] = [];
  for (let i = 0; i < 4; i++) table.enter("a");
  for (const name of ["first", "second", "third"]) {
    table.queue("a", waiter(() => (order.push(name), table.enter("a"))));
  }
  table.leave("b");
  assert.deepEqual(order, []);
  table.leave("a");
  assert.deepEqual(order, ["first"]);
  table.leave("a");
  table.leave("a");
  assert.deepEqual(order, ["first", "second", "third"]);
});

Deno.test("FailureTable serves keys in turn, so that a crowd delays others by at most one turn", () => {
  const { table } = create();
  const order: string[] = [];
  for (let i = 0; i < 4; i++) table.enter("a");
  for (const name of ["x1", "x2", "x3", "y1"]) {
    table.queue("a", waiter(() => (order.push(name), table.enter("a")), name.slice(0, 1)));
  }
  for (let i = 0; i < 4; i++) table.leave("a");
  assert.deepEqual(order, ["x1", "y1", "x2", "x3"]);
});

Deno.test("FailureTable calls the next waiter if one does not take its turn", () => {
  const { table } = create();
  const order: string[] = [];
  for (let i = 0; i < 4; i++) table.enter("a");
  for (const name of ["first", "second"]) table.queue("a", waiter(() => order.push(name)));
  table.leave("a");
  assert.deepEqual(order, ["first", "second"]);
});

Deno.test("FailureTable calls each waiter once for an attempt that ends, even if it queues again", () => {
  const { table } = create();
  for (let i = 0; i < 4; i++) table.enter("a");
  const asked = { first: 0, second: 0 };
  const queue = (name: keyof typeof asked) =>
    table.queue(
      "a",
      waiter(() => {
        if (++asked[name] > 5) throw new Error("asked without end");
        queue(name);
      }),
    );
  queue("first");
  queue("second");
  table.leave("a");
  assert.deepEqual(asked, { first: 1, second: 1 });
  table.leave("a");
  assert.deepEqual(asked, { first: 2, second: 2 });
});

Deno.test("FailureTable ends a wait for a turn when its time is up", async () => {
  const { table } = create();
  for (let i = 0; i < 4; i++) table.enter("a");
  let turned = false;
  const late = new Promise((left) =>
    table.queue("a", { queueKey: "", maxWaitMs: 1, called: () => assert.fail("called"), left })
  );
  table.queue("a", waiter(() => turned = true));
  assert.equal(await late, "late");
  assert.equal(turned, false);
  table.leave("a");
  assert.equal(turned, true);
});

Deno.test("FailureTable grants the additional free failures of extraFree()", () => {
  const clock = { now: 1_000_000 };
  const extraFree = (key: string) => key === "many users" ? 3 : 0;
  const table = new FailureTable<string>({
    policy: POLICY,
    capacity: 10,
    elapsed: () => clock.now,
    extraFree,
  });
  for (let i = 0; i < 5; i++) table.fail("many users", "");
  assert.deepEqual(table.state("many users"), { waitMs: 0, full: false });
  table.fail("many users", "");
  assert.equal(table.state("many users").waitMs, 1000);
  for (let i = 0; i < 3; i++) table.fail("one user", "");
  assert.equal(table.state("one user").waitMs, 1000);
});

Deno.test("FailureTable drops the key that was idle longest to make room, but no running wait", () => {
  const { table, fail } = create(3, { free: 3 });
  fail("banned", 5);
  fail("old", 3);
  fail("new", 3);
  fail("newest");
  assert.equal(table.size, 3);
  assert.ok(table.state("banned").waitMs > 0);
  fail("new"); // its fourth failure: the record was kept
  assert.ok(table.state("new").waitMs > 0);
  fail("old"); // its first failure again: the record was dropped
  assert.equal(table.state("old").waitMs, 0);
});

Deno.test("FailureTable reuses the places of expired waits", () => {
  const { table, clock, fail } = create(2);
  fail("a", 3);
  fail("b", 3);
  clock.now += 1000;
  fail("c", 3);
  assert.equal(table.size, 2);
  assert.equal(table.waiting().length, 1);
  assert.equal(table.state("c").waitMs, 1000);
});

Deno.test("FailureTable full of running waits drops the key that failed longest ago, and counts new ones", () => {
  const { table, clock, fail } = create(3);
  for (const key of ["a", "b", "c", "d"]) {
    fail(key, 8);
    clock.now++;
  }
  assert.deepEqual(["a", "b", "c", "d"].map((key) => table.state(key).waitMs > 0), [false, true, true, true]);
  fail("e");
  fail("f");
  assert.deepEqual(["b", "c", "d"].map((key) => table.failuresOf(key)), [0, 8, 8], "strangers share a place");
  assert.deepEqual([table.size, table.failuresOf("f")], [3, 1]);
});

Deno.test("FailureTable keeps every running wait to its end while there is room for all waits", () => {
  const step = fc.oneof(
    fc.record({ fail: fc.nat({ max: 3 }) }),
    fc.record({ once: fc.constant(true) }),
    fc.record({ pass: fc.nat({ max: 20_000 }) }),
    fc.record({ look: fc.nat({ max: 30 }) }),
  );
  fc.assert(fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
    const { table, clock } = create(5);
    const until = new Map<string, number>();
    for (const [i, step] of steps.entries()) {
      if ("pass" in step) clock.now += step.pass;
      else if ("look" in step) table.state(`${step.look}`).waitMs;
      else if ("once" in step) table.fail(`once ${i}`, "");
      else until.set(`${step.fail}`, table.fail(`${step.fail}`, "").until);
      assert.ok(table.size <= 5);
      for (const [key, moment] of until) {
        if (moment > clock.now) assert.equal(table.state(key).waitMs, moment - clock.now);
      }
    }
  }));
});

Deno.test("FailureTable hands its records over, running waits first", () => {
  const { table, clock, fail } = create();
  fail("watched");
  clock.now += 1;
  fail("waiting", 4);
  clock.now += 1;
  fail("later");
  assert.deepEqual(table.entries(10).map(([key]) => key), ["waiting", "later", "watched"]);
  assert.deepEqual(table.entries(2).map(([key]) => key), ["waiting", "later"]);

  const next = create();
  next.clock.now = clock.now;
  next.table.adopt(table.entries(10));
  assert.equal(next.table.state("waiting").waitMs, table.state("waiting").waitMs);
  assert.ok(table.state("waiting").waitMs > 0);
  // The count continues.
  next.fail("later", 2);
  fail("later", 2);
  assert.equal(next.table.state("later").waitMs, table.state("later").waitMs);
});

Deno.test("FailureTable omits expired records when it hands over and when it adopts", () => {
  const { table, clock, fail } = create();
  fail("old");
  const entries = table.entries(10);
  clock.now += POLICY.windowMs;
  assert.deepEqual(table.entries(10), []);
  const next = create();
  next.clock.now = clock.now;
  next.table.adopt(entries);
  assert.equal(next.table.size, 0);
});

Deno.test("FailureTable keeps the more severe of two records of one key", () => {
  const before = create();
  before.fail("a", 5);
  const next = create();
  next.fail("a");
  next.table.adopt(before.table.entries(10));
  assert.equal(next.table.state("a").waitMs, 4000);
  next.table.adopt([["a", { subject: "a", failures: 1, at: next.clock.now, until: 0 }]]);
  assert.equal(next.table.state("a").waitMs, 4000);
});

Deno.test("FailureTable adopts no more records than it has room for", () => {
  const before = create();
  for (let i = 0; i < 20; i++) before.fail(`b${i}`, 4);
  const next = create(8);
  next.table.adopt(before.table.entries(100));
  assert.equal(next.table.size, 8);
});

Deno.test("FailureTable drops the key that failed longest ago, even if its state is read often", () => {
  const { table, fail } = create(3);
  for (const key of ["a", "b", "c"]) fail(key);
  for (let i = 0; i < 3; i++) table.state("a");
  fail("d");
  assert.deepEqual(["a", "b", "c", "d"].map((key) => table.failuresOf(key)), [0, 1, 1, 1]);
});
