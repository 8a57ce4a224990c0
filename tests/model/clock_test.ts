import assert from "node:assert/strict";
import { parseDuration, unlessAborted } from "../../src/model/clock.ts";

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

Deno.test("unlessAborted gives what the promise gives", async () => {
  assert.equal(await unlessAborted(Promise.resolve(7), never), 7);
  await assert.rejects(unlessAborted(Promise.reject(broken), never), broken);
});

Deno.test("unlessAborted ends with the signal's reason when that comes first", async () => {
  const caller = new AbortController();
  const waiting = unlessAborted(new Promise(() => {}), caller.signal);
  caller.abort(gone);
  await assert.rejects(waiting, gone);
});

Deno.test("unlessAborted gives the reason of a signal that was aborted beforehand, whatever the promise does", async () => {
  for (const promise of [new Promise(() => {}), Promise.resolve(7), Promise.reject(broken)]) {
    await assert.rejects(unlessAborted(promise, AbortSignal.abort(gone)), gone);
  }
});

Deno.test("unlessAborted leaves no rejection unheard, whenever the signal was aborted", async () => {
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
    await new Promise((resolve) => setTimeout(resolve, 0)); // such rejections are told after all microtasks
  } finally {
    globalThis.removeEventListener("unhandledrejection", listen);
  }
  assert.deepEqual(unheard, []);
});

Deno.test("unlessAborted lets go of the signal", async () => {
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
