import assert from "node:assert/strict";
import fc from "fast-check";
import { FairQueue } from "../../src/model/fair_queue.ts";

function create(limits = { waiting: 6, perKey: 4 }) {
  const lanes = new FairQueue(limits);
  const order: string[] = [];
  /** Joins with the first letter of the name as key. */
  const join = (name: string, more: { maxWaitMs?: number; signal?: AbortSignal } = {}) =>
    lanes.join({
      queueKey: name.slice(0, 1),
      ...more,
      called: () => order.push(name),
      left: (why) => order.push(`${name} ${why}`),
    });
  const serve = () => {
    while (lanes.callNext());
    return order;
  };
  return { lanes, order, join, serve };
}

Deno.test("FairQueue serves keys in turn, and waiters of one key in order of arrival", () => {
  const { join, serve, lanes } = create();
  for (const name of ["a1", "a2", "a3", "b1", "c1", "b2"]) assert.ok(join(name));
  assert.equal(lanes.size, 6);
  assert.deepEqual(serve(), ["a1", "b1", "c1", "a2", "b2", "a3"]);
  assert.equal(lanes.size, 0);
});

Deno.test("FairQueue skips keys that the caller excludes", () => {
  const { join, lanes, order } = create();
  for (const name of ["a1", "a2", "b1"]) join(name);
  const notA = (queueKey: string) => queueKey !== "a";
  assert.ok(lanes.callNext(notA));
  assert.ok(!lanes.callNext(notA));
  assert.ok(lanes.callNext());
  assert.deepEqual(order, ["b1", "a1"]);
});

Deno.test("FairQueue limits the waiters of one key", () => {
  const { join, serve } = create();
  for (const name of ["a1", "a2", "a3", "a4"]) assert.ok(join(name));
  assert.ok(!join("a5"));
  assert.ok(join("b1"));
  assert.deepEqual(serve(), ["a1", "b1", "a2", "a3", "a4"]);
});

Deno.test("a full FairQueue displaces the last waiter of the key with the most waiters", () => {
  const { join, serve, order } = create();
  for (const name of ["a1", "a2", "a3", "a4", "b1", "b2"]) assert.ok(join(name));
  assert.ok(join("b3"), "a has two more than b");
  assert.deepEqual(order, ["a4 displaced"]);
  assert.ok(!join("b4"), "it would be no shorter than the lane that made room");
  assert.ok(join("c1"));
  assert.ok(join("d1"));
  assert.deepEqual(serve().slice(1).toSorted(), [
    "a1",
    "a2",
    "a3 displaced",
    "b1",
    "b2",
    "b3 displaced",
    "c1",
    "d1",
  ]);
});

Deno.test("a FairQueue that is full with one waiter per key refuses more", () => {
  const { join } = create();
  for (const name of ["a1", "b1", "c1", "d1", "e1", "f1"]) assert.ok(join(name));
  assert.ok(!join("g1"));
});

Deno.test("FairQueue drops waiters that time out or whose signal fires", async () => {
  const { join, serve, order, lanes } = create();
  const caller = new AbortController();
  join("a1", { signal: caller.signal });
  join("a2");
  join("b1", { maxWaitMs: 0 });
  caller.abort();
  assert.deepEqual(order, ["a1 aborted"]);
  assert.equal(lanes.size, 2);
  await new Promise((resolve) => setTimeout(resolve, 1));
  assert.deepEqual(serve(), ["a1 aborted", "b1 late", "a2"]);
});

Deno.test("FairQueue reports nothing more to waiters that were called or cleared", async () => {
  const { join, order, lanes } = create();
  const caller = new AbortController();
  join("a1", { signal: caller.signal, maxWaitMs: 0 });
  join("a2", { signal: caller.signal, maxWaitMs: 0 });
  join("b1");
  lanes.callNext();
  assert.deepEqual(lanes.clear().map(({ queueKey }) => queueKey), ["b", "a"]);
  caller.abort();
  await new Promise((resolve) => setTimeout(resolve, 1));
  assert.deepEqual([order, lanes.size, lanes.callNext()], [["a1"], 0, false]);
});

Deno.test("FairQueue reports once to each waiter, keeps its bounds and delays a key by one turn of each other key", () => {
  const move = fc.oneof(
    { weight: 3, arbitrary: fc.record({ join: fc.nat({ max: 5 }) }) },
    { weight: 1, arbitrary: fc.record({ abort: fc.nat() }) },
    { weight: 1, arbitrary: fc.constant({ call: true }) },
  );
  fc.assert(fc.property(fc.array(move, { maxLength: 100 }), (moves) => {
    const lanes = new FairQueue({ waiting: 8, perKey: 3 });
    const waiting: {
      queueKey: string;
      told: string[];
      rounds: Map<string, number>;
      caller: AbortController;
    }[] = [];
    for (const move of moves) {
      if ("join" in move) {
        const queueKey = String(move.join);
        const told: string[] = [];
        const caller = new AbortController();
        const own = { queueKey, told, caller, rounds: new Map<string, number>() };
        const first = !waiting.some((other) => other.queueKey === queueKey && other.told.length === 0);
        const joined = lanes.join({
          queueKey,
          signal: caller.signal,
          called: () => {
            told.push("called");
            for (const other of waiting) other.rounds.set(queueKey, (other.rounds.get(queueKey) ?? 0) + 1);
            if (first) {
              assert.ok([...own.rounds].every(([name, semaphore]) => name === queueKey || semaphore <= 1));
            }
          },
          left: (why) => told.push(why),
        });
        if (joined) waiting.push(own);
      } else if ("abort" in move) waiting[move.abort % waiting.length]?.caller.abort();
      else lanes.callNext();
      const still = waiting.filter(({ told }) => told.length === 0);
      assert.equal(lanes.size, still.length);
      assert.ok(still.length <= 8);
      assert.ok(waiting.every(({ told }) => told.length <= 1));
    }
  }));
});
