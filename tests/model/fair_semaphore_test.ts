import assert from "node:assert/strict";
import {
  FairSemaphore,
  NoPermit,
  type SemaphoreLimits,
  type SemaphoreWaiter,
} from "../../src/model/fair_semaphore.ts";

const NEVER = new AbortController().signal;

/** Returns a semaphore whose work ends when a test ends it. */
function create(limits: Partial<SemaphoreLimits> = {}) {
  const semaphore = new FairSemaphore({ maxConcurrent: 2, waiting: 6, perKey: 4, ...limits });
  const begun: string[] = [];
  const ends: (() => void)[] = [];
  /** Runs work with the first letter of the name as key. */
  const come = (name: string, { known = false, signal = NEVER }: Partial<SemaphoreWaiter> = {}) =>
    semaphore.run(() =>
      new Promise<string>((resolve) => {
        begun.push(name);
        ends.push(() => resolve(name));
      }), { queueKey: name.slice(0, 1), known, signal });
  const settle = async () => {
    for (let i = 0; i < 10; i++) await Promise.resolve();
  };
  return {
    semaphore,
    begun,
    come,
    settle,
    async endFirst() {
      ends.shift()?.();
      await settle();
    },
    async endAll() {
      while (ends.length > 0) await this.endFirst();
    },
  };
}

Deno.test("FairSemaphore runs a few calls at a time, and the next when one ends, key by key", async () => {
  const setting = create();
  const { come, begun } = setting;
  const all = ["a1", "a2", "a3", "a4", "b1"].map((name) => come(name));
  assert.deepEqual(begun, ["a1", "a2"]);
  await setting.endFirst();
  assert.deepEqual(begun, ["a1", "a2", "a3"]);
  await setting.endAll();
  assert.deepEqual(begun, ["a1", "a2", "a3", "b1", "a4"]);
  assert.deepEqual(await Promise.all(all), ["a1", "a2", "a3", "a4", "b1"]);
});

Deno.test("FairSemaphore never exceeds the limit of a key, after any number of ended calls", async () => {
  const setting = create({ maxConcurrent: 4, maxConcurrentPerKey: 2 });
  const all = ["a1", "a2", "a3", "a4"].map((name) => setting.come(name));
  assert.deepEqual(setting.begun, ["a1", "a2"]);
  await setting.endFirst();
  assert.deepEqual(setting.begun, ["a1", "a2", "a3"]);
  await setting.endAll();
  await Promise.all(all);
});

Deno.test("FairSemaphore refuses callers that have waited for the limit", async () => {
  const setting = create({ maxConcurrent: 1, maxWaitMs: 5 });
  const first = setting.come("a1");
  await assert.rejects(setting.come("a2"), /no turn in time/);
  await setting.endAll();
  assert.equal(await first, "a1");
  assert.deepEqual(setting.begun, ["a1"]);
});

Deno.test("FairSemaphore gives known callers every other turn", async () => {
  const setting = create({ maxConcurrent: 1 });
  const { come, begun } = setting;
  const all = ["a1", "b1", "c1", "d1"].map((name) => come(name));
  all.push(...["x1", "y1"].map((name) => come(name, { known: true })));
  await setting.endAll();
  assert.deepEqual(begun, ["a1", "x1", "b1", "y1", "c1", "d1"]);
  await Promise.all(all);
});

Deno.test("FairSemaphore gives known callers the configured number of turns for each turn of unknown ones", async () => {
  const setting = create({ maxConcurrent: 1, knownWeight: 2 });
  const { come, begun } = setting;
  const all = ["a1", "b1", "c1", "d1"].map((name) => come(name));
  all.push(...["x1", "y1", "z1", "x2", "y2"].map((name) => come(name, { known: true })));
  await setting.endAll();
  assert.deepEqual(begun, ["a1", "x1", "y1", "b1", "z1", "x2", "c1", "y2", "d1"]);
  await Promise.all(all);
});

Deno.test("FairSemaphore has places for known callers when unknown ones have filled theirs", async () => {
  const setting = create();
  const { come, begun } = setting;
  const crowd = ["a1", "a2", "b1", "c1", "d1", "e1", "f1", "g1"].map((name) => come(name));
  await assert.rejects(come("h1"), { constructor: NoPermit });
  const known = come("x1", { known: true });
  await setting.endAll();
  assert.equal(begun[2], "x1");
  await Promise.all([...crowd, known]);
});

Deno.test("FairSemaphore bounds the concurrent work of one key", async () => {
  const setting = create({ maxConcurrent: 3, maxConcurrentPerKey: 2 });
  const { come, begun } = setting;
  const all = ["a1", "a2", "a3", "b1"].map((name) => come(name));
  assert.deepEqual(begun, ["a1", "a2", "b1"]);
  await setting.endFirst();
  assert.deepEqual(begun, ["a1", "a2", "b1", "a3"]);
  await setting.endAll();
  await Promise.all(all);
});

Deno.test("FairSemaphore reserves permits for known callers, however long the work of unknown ones takes", async () => {
  const setting = create({ maxConcurrent: 3, reservedForKnown: 1 });
  const { come, begun } = setting;
  const all = ["a1", "b1", "c1"].map((name) => come(name));
  all.push(...["x1", "y1"].map((name) => come(name, { known: true })));
  assert.deepEqual(begun, ["a1", "b1", "x1"]);
  await setting.endFirst();
  assert.deepEqual(begun, ["a1", "b1", "x1", "y1"]);
  await setting.endFirst();
  assert.deepEqual(begun, ["a1", "b1", "x1", "y1", "c1"]);
  await setting.endAll();
  await Promise.all(all);
});

Deno.test("FairSemaphore never begins the work of a caller that left, and continues with the next", async () => {
  const setting = create({ maxConcurrent: 1 });
  const { come, begun } = setting;
  const caller = new AbortController();
  const gone = new Error("gone");
  const first = come("a1");
  const left = come("a2", { signal: caller.signal });
  const kept = come("a3");
  caller.abort(gone);
  await assert.rejects(left, gone);
  await assert.rejects(come("a4", { signal: caller.signal }), gone);
  await setting.endAll();
  assert.deepEqual(begun, ["a1", "a3"]);
  await Promise.all([first, kept]);
});

Deno.test("FairSemaphore passes the turn on when a caller leaves between its call and its work", async () => {
  const semaphore = new FairSemaphore({ maxConcurrent: 1, waiting: 6, perKey: 4 });
  const caller = new AbortController();
  const waiter = { queueKey: "a", known: false, signal: NEVER };
  const end = Promise.withResolvers<void>();
  const first = semaphore.run(() => end.promise, waiter);
  const second = semaphore.run(() => Promise.reject(new Error("begun")), {
    ...waiter,
    signal: caller.signal,
  });
  const third = semaphore.run(() => Promise.resolve("third"), waiter);
  end.resolve();
  first.then(() => caller.abort(new Error("gone")));
  await assert.rejects(second, /gone|begun/);
  assert.equal(await third, "third");
});

Deno.test("FairSemaphore passes the turn on when work fails", async () => {
  const semaphore = new FairSemaphore({ maxConcurrent: 1, waiting: 6, perKey: 4 });
  const waiter = { queueKey: "a", known: false, signal: NEVER };
  const failing = semaphore.run(() => Promise.reject(new Error("no")), waiter);
  const next = semaphore.run(() => Promise.resolve("next"), waiter);
  await assert.rejects(failing, /no/);
  assert.equal(await next, "next");
});
