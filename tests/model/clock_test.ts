import assert from "node:assert/strict";
import {
  coalesceTimeouts,
  parseDuration,
  type Schedule,
  unlessAborted,
  within,
} from "../../src/model/clock.ts";
import { VirtualTime } from "../fixtures/virtual_time.ts";

const TEXTS: readonly [text: string, seconds: number | undefined][] = [
  ["90s", 90],
  ["30m", 1800],
  ["12h", 43_200],
  ["7d", 604_800],
  ["0s", undefined],
  ["", undefined],
  ["5", undefined],
  ["h", undefined],
  ["-1h", undefined],
  ["1.5h", undefined],
  ["1 h", undefined],
  ["1H", undefined],
  ["1w", undefined],
  ["1h1m", undefined],
  ["9999999999s", undefined],
  ["1h\n", undefined],
];

for (const [text, seconds] of TEXTS) {
  Deno.test(`parseDuration(${JSON.stringify(text)}) is ${seconds}`, () => {
    assert.equal(parseDuration(text), seconds);
  });
}

const never = new AbortController().signal;
const gone = new Error("the caller has gone");
const broken = new Error("broken");

Deno.test("unlessAborted settles as the promise does", async () => {
  assert.equal(await unlessAborted(Promise.resolve(7), never), 7);
  await assert.rejects(unlessAborted(Promise.reject(broken), never), broken);
});

Deno.test("unlessAborted rejects with the signal's reason if the signal fires first", async () => {
  const caller = new AbortController();
  const waiting = unlessAborted(new Promise(() => {}), caller.signal);
  caller.abort(gone);
  await assert.rejects(waiting, gone);
});

Deno.test("unlessAborted rejects with the reason of a signal that fired before the call, however the promise settles", async () => {
  for (const promise of [new Promise(() => {}), Promise.resolve(7), Promise.reject(broken)]) {
    await assert.rejects(unlessAborted(promise, AbortSignal.abort(gone)), gone);
  }
});

Deno.test("unlessAborted leaves no rejection unhandled, whenever the signal fires", async () => {
  const unheard: unknown[] = [];
  const listen = (event: PromiseRejectionEvent) => {
    event.preventDefault();
    unheard.push(event.reason);
  };
  globalThis.addEventListener("unhandledrejection", listen);
  try {
    const before = Promise.withResolvers<never>();
    await assert.rejects(unlessAborted(before.promise, AbortSignal.abort(gone)), gone);
    before.reject(broken);
    const later = Promise.withResolvers<never>();
    const caller = new AbortController();
    const waiting = unlessAborted(later.promise, caller.signal);
    caller.abort(gone);
    await assert.rejects(waiting, gone);
    later.reject(broken);
    await new Promise((resolve) => setTimeout(resolve, 0)); // rejections are reported after microtasks
  } finally {
    globalThis.removeEventListener("unhandledrejection", listen);
  }
  assert.deepEqual(unheard, []);
});

Deno.test("unlessAborted removes its listener from the signal", async () => {
  let listeners = 0;
  const signal = new AbortController().signal;
  const { addEventListener, removeEventListener } = AbortSignal.prototype;
  signal.addEventListener = (...given: Parameters<typeof addEventListener>) => {
    listeners++;
    addEventListener.apply(signal, given);
  };
  signal.removeEventListener = (...given: Parameters<typeof removeEventListener>) => {
    listeners--;
    removeEventListener.apply(signal, given);
  };
  await unlessAborted(Promise.resolve(7), signal);
  await assert.rejects(unlessAborted(Promise.reject(broken), signal), broken);
  await Promise.resolve();
  assert.equal(listeners, 0);
});

const settled = async () => {
  for (let i = 0; i < 10; i++) await Promise.resolve();
};

/** Returns coalesced timers in virtual time, and the times at which they woke the thread. */
function stepped() {
  const time = new VirtualTime();
  const woken: number[] = [];
  const waking: Schedule = (ms, task) =>
    time.schedule(ms, () => {
      woken.push(time.now);
      task();
    });
  const start = time.now;
  const schedule = coalesceTimeouts(waking, time.clock);
  return {
    time,
    schedule,
    wakings: () => woken.map((at) => at - start),
    pass: (ms: number) => time.advance(ms, settled),
  };
}

Deno.test("coalesceTimeouts() wakes a thread once for all periodic work, whenever each began", async () => {
  const { time, schedule, wakings, pass } = stepped();
  const runs = new Map<number, number>();
  const repeat = (ms: number, name: number): void => {
    schedule(ms, () => {
      runs.set(name, (runs.get(name) ?? 0) + 1);
      time.now += 0.7; // the task takes time
      repeat(ms, name);
    });
  };
  for (const [name, ms] of [250, 500, 500, 1000, 1000, 2000, 5000].entries()) {
    repeat(ms, name);
    await pass(33);
  }
  await pass(60_000);
  assert.ok(wakings().length <= 4 * 61, `${wakings().length} wakings in a minute`);
  assert.deepEqual([...runs.values()].map((run) => Math.round(run / 4)), [60, 30, 30, 15, 15, 8, 3]);
});

Deno.test("coalesceTimeouts() wakes early rather than late, and leaves short and odd times unchanged", async () => {
  const { schedule, wakings, pass } = stepped();
  await pass(400);
  for (const ms of [2000, 750, 333, 5, 0]) schedule(ms, () => {});
  await pass(3000);
  assert.deepEqual(wakings(), [400, 405, 733, 999.75, 1999.75]);
});

Deno.test("coalesceTimeouts() runs no task that another one cancelled, and all others even if one fails", async () => {
  const { time, schedule, pass } = stepped();
  const done: string[] = [];
  const failures: unknown[] = [];
  const hear = (event: ErrorEvent) => {
    event.preventDefault();
    failures.push(event.error);
  };
  globalThis.addEventListener("error", hear);
  try {
    const cancels = ["a", "b", "c"].map((name) =>
      schedule(1000, () => {
        done.push(name);
        cancels[1]?.();
        if (name === "a") throw new Error("a failed");
      })
    );
    await pass(1000);
    assert.deepEqual([done, failures.map(String)], [["a", "c"], ["Error: a failed"]]);
    const last = schedule(1000, () => done.push("d"));
    assert.equal(time.pending, 1);
    last();
    last();
    assert.equal(time.pending, 0, "nobody is woken for nothing");
  } finally {
    globalThis.removeEventListener("error", hear);
  }
});

Deno.test("within() returns a timely result, throws an error, waits no longer than its limit and leaves no timer", async () => {
  assert.equal(await within(Promise.resolve("done"), 3_600_000), "done");
  await assert.rejects(within(Promise.reject(new RangeError("none")), 3_600_000), RangeError);
  assert.equal(await within(new Promise(() => {}), 0), undefined);
});
