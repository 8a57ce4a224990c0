import assert from "node:assert/strict";
import { SessionQuota, type Slot } from "../../../src/daemon/session/session_quota.ts";
import { VirtualTime } from "../../fixtures/virtual_time.ts";

const NEVER = new AbortController().signal;

function sessionQuota(
  options: { limit?: number; holdMs?: number; maxWaitMs?: number; maxWaiting?: number } = {},
) {
  const time = { now: 1000 };
  const made = new SessionQuota({ ...options, elapsed: () => time.now, limit: () => options.limit ?? 2 });
  return {
    time,
    acquire: (instances = [1], user = "alice", signal = NEVER) => made.acquire(user, instances, signal),
  };
}

Deno.test("SessionQuota chooses the instance with the fewest sessions, the first of equals", async () => {
  const { acquire } = sessionQuota();
  const taken: number[] = [];
  for (let i = 0; i < 4; i++) taken.push((await acquire([2, 1])).instance);
  assert.deepEqual(taken, [2, 1, 2, 1]);
});

Deno.test("SessionQuota counts accounts separately", async () => {
  const { acquire } = sessionQuota({ limit: 1 });
  await acquire([1], "alice");
  assert.equal((await acquire([1], "bob")).instance, 1);
});

Deno.test("SessionQuota holds a used slot for a while, but frees an unused one at once", async () => {
  const { acquire, time } = sessionQuota({ limit: 1, maxWaitMs: 20 });
  (await acquire()).release(false);
  const used = await acquire();
  used.release(true);
  used.release(false);
  await assert.rejects(acquire(), { code: "ERR_TOO_MANY_SESSIONS" });
  time.now += 5_500;
  (await acquire()).release(true);
});

Deno.test("SessionQuota lets no new caller overtake a waiting one when a slot becomes free", async () => {
  const { acquire, time } = sessionQuota({ limit: 1 });
  (await acquire()).release(true);
  const order: string[] = [];
  const first = acquire().then((slot) => (order.push("first"), slot));
  time.now += 5_500; // the timer of the waiting caller has not run yet
  const second = acquire().then((slot) => (order.push("second"), slot));
  (await first).release(false);
  (await second).release(false);
  assert.deepEqual(order, ["first", "second"]);
});

Deno.test("SessionQuota serves waiting callers in turn", async () => {
  const { acquire } = sessionQuota({ limit: 1 });
  const order: string[] = [];
  let slot: Slot = await acquire();
  const waiting = ["a", "b", "c"].map(async (name) => {
    const granted = await acquire();
    order.push(name);
    slot = granted;
  });
  for (let i = 0; i < 3; i++) {
    slot.release(false);
    await waiting[i];
  }
  slot.release(false);
  assert.deepEqual(order, ["a", "b", "c"]);
});

Deno.test("SessionQuota serves other instances while a caller waits for a full one", async () => {
  const { acquire } = sessionQuota({ limit: 1, maxWaiting: 2 });
  const [one, two] = [await acquire([1]), await acquire([2])];
  const order: string[] = [];
  const waiting = [[2], [1, 2]].map(async (instances) => {
    const slot = await acquire(instances);
    order.push(`${instances} at ${slot.instance}`);
    return slot;
  });
  one.release(false);
  (await waiting[1])?.release(false);
  const third = await acquire([2, 1]);
  assert.equal(third.instance, 1);
  third.release(false);
  two.release(false);
  (await waiting[0])?.release(false);
  assert.deepEqual(order, ["1,2 at 1", "2 at 2"]);
});

Deno.test("SessionQuota serves all waiting callers, in turn, when the daemon allows more", async () => {
  const options = { limit: 1 };
  const { acquire } = sessionQuota(options);
  const slot = await acquire();
  const order: string[] = [];
  const waiting = ["a", "b", "c"].map(async (name) => {
    const granted = await acquire();
    order.push(name);
    return granted;
  });
  options.limit = 3;
  slot.release(false);
  for (const granted of await Promise.all(waiting)) granted.release(false);
  assert.deepEqual(order, ["a", "b", "c"]);
});

Deno.test("SessionQuota wakes a waiting caller when a held slot becomes free", async () => {
  const time = new VirtualTime();
  const { clock: elapsed, schedule } = time;
  const made = new SessionQuota({ limit: () => 1, elapsed, schedule });
  (await made.acquire("alice", [1], NEVER)).release(true);
  let granted = false;
  const waiting = made.acquire("alice", [1], NEVER).finally(() => granted = true);
  const rest = () => new Promise((resolve) => setImmediate(resolve));
  await time.advance(5_499, rest);
  assert.equal(granted, false);
  await time.advance(1, rest);
  (await waiting).release(false);
  assert.equal(time.pending, 0);
});

Deno.test("SessionQuota removes only the waiting caller that leaves", async () => {
  const { acquire } = sessionQuota({ limit: 1 });
  const slot = await acquire();
  const leaving = new AbortController();
  const order: string[] = [];
  const wait = (name: string, signal = NEVER) =>
    acquire([1], "alice", signal).then((slot) => {
      order.push(name);
      slot.release(false);
    });
  const waiting = [wait("first"), wait("second", leaving.signal), wait("third"), wait("fourth")];
  leaving.abort(new Error("gone"));
  await assert.rejects(waiting[1] ?? Promise.resolve(), /gone/);
  slot.release(false);
  await Promise.all([waiting[0], waiting[2], waiting[3]]);
  assert.deepEqual(order, ["first", "third", "fourth"]);
});

Deno.test("SessionQuota refuses callers if too many wait, and removes those that leave", async () => {
  const { acquire } = sessionQuota({ limit: 1, maxWaiting: 1 });
  const slot = await acquire();
  const controller = new AbortController();
  const waiting = acquire([1], "alice", controller.signal);
  await assert.rejects(acquire(), { code: "ERR_TOO_MANY_SESSIONS" });
  controller.abort(new Error("gone"));
  await assert.rejects(waiting, /gone/);
  await assert.rejects(acquire([1], "alice", controller.signal), /gone/);
  slot.release(false);
  (await acquire()).release(false);
});

Deno.test("SessionQuota passes an idle session to the next caller with its key, and ends it if others need its slot", async () => {
  const { acquire, made } = keeping({ limit: 1 });
  const closed: string[] = [];
  const idle = (key: string) => ({ key, close: () => void closed.push(key) });
  (await acquire("a")).keep(idle("a"));
  const again = await acquire("a");
  assert.equal(again.idle?.key, "a");
  const other = acquire("b");
  again.keep(idle("a")); // frees the slot that the other waits for
  assert.equal((await other).idle, undefined);
  assert.deepEqual(closed, ["a"]);
  (await other).keep(idle("b"));
  made.close();
  assert.deepEqual(closed, ["a", "b"]);
});

function keeping({ limit }: { readonly limit: number }) {
  const made = new SessionQuota({ limit: () => limit, holdMs: 0 });
  return { made, acquire: (key: string) => made.acquire("alice", [1], NEVER, key) };
}
