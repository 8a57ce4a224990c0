import assert from "node:assert/strict";
import { CannotStart } from "../../src/workers/worker_lifecycle.ts";
import { inTime, until } from "../fixtures/deadline.ts";
import { ownProcess } from "../fixtures/own_process.ts";
import { open } from "./opened_worker.ts";
import { PING_MS, Watchdog } from "../../src/workers/worker_thread.ts";

Deno.test("WorkerThread dies only when it no longer answers pings", async () => {
  const { worker, pings, said, died, deaths } = open();
  const heard = (count: number) => until(() => said.length === count, { what: `message ${count}` });
  worker.post({ kind: "start", pongs: 20 });
  const ready = await worker.ready();
  assert.equal(ready.kind, "ready");
  await heard(2); // the answer to the first ping
  for (let pongs = 1; pongs < 20; pongs++) {
    pings.tick?.(); // no ping: a message arrived since the last tick
    pings.tick?.();
    await heard(2 + pongs);
  }
  for (let ticks = 0; ticks < 4; ticks++) pings.tick?.();
  assert.deepEqual(deaths, []);
  pings.tick?.();
  assert.equal(await died(), "no sign of life for 20 s");
  assert.deepEqual(said, ["ready", ...Array.from({ length: 20 }, () => "pong")]);
  assert.equal(pings.tick, undefined);
  assert.equal(deaths.length, 1);
});

Deno.test("WorkerThread gets no pings before it is ready, nor after its end", async () => {
  const { worker, pings, deaths } = open();
  assert.equal(pings.tick, undefined);
  worker.post({ kind: "start", pongs: 1_000_000 });
  await worker.ready();
  assert.notEqual(pings.tick, undefined);
  worker.end();
  worker.post({ kind: "break" });
  assert.deepEqual([pings.tick, deaths], [undefined, []]);
});

Deno.test("WorkerThread reports why it cannot start, and does not count that as a death", async () => {
  const { worker, deaths } = open();
  const ready = worker.ready();
  worker.post({ kind: "fail" });
  await assert.rejects(
    ready,
    (error) => error instanceof CannotStart && error.diagnostics.join() === "no place",
  );
  worker.end();
  assert.deepEqual(deaths, []);
});

Deno.test("WorkerThread.ready() waits as long as there is progress, reports for what, and then gives a hint", async () => {
  let spent = 0;
  let looks = 0;
  const cpuMs = () => spent += looks++ < 10 ? 1000 : 0;
  const { worker, said, told } = open({ everyMs: 1, maxIdle: 4, maxChecks: 1000, cpuMs });
  await assert.rejects(worker.ready(), (error) => {
    assert(error instanceof CannotStart);
    assert.match(error.message, /^the pinged did not start within 0\.01\d s: still /);
    assert.match(error.message, /; see top, df and the log of the database/);
    return true;
  });
  assert.equal(looks, 14, "four looks without progress after ten with it, the first of them before the wait");
  assert.equal(said.filter((kind) => kind === "starting").length, 12);
  assert.match(JSON.stringify(told), /"awaited":"loading the program"/);
  worker.end();
});

Deno.test("WorkerThread.ready() ends a start that only looks busy", async () => {
  let spent = 0;
  const { worker } = open({ everyMs: 1, maxIdle: 4, maxChecks: 20, cpuMs: () => spent += 1000 });
  await assert.rejects(worker.ready(), /did not start within 0\.02 s/);
  worker.end();
});

Deno.test("WorkerThread dies of a defect, and reports it to all waiting callers", async () => {
  const { stdout, stderr } = await ownProcess(new URL("./dying_worker.ts", import.meta.url));
  const told = JSON.parse(stdout);
  assert.match(told.died, /a defect/);
  assert.match(told.notReady, /^CannotStart: .*a defect/);
  assert.equal(told.closed, true);
  assert.match(stderr, /Uncaught \(in worker "pinged"\) Error: a defect/); // from the runtime itself
});

Deno.test("WorkerThread.waitFor() stops waiting for a worker that is ended", async () => {
  const { worker, deaths } = open();
  worker.post({ kind: "start", pongs: 1_000_000 });
  await worker.ready();
  const closed = worker.waitFor("closed", 3600_000);
  worker.end();
  await inTime(closed, "the end of the wait");
  assert.deepEqual(deaths, []);
});

Deno.test("WorkerThread.waitFor() waits for the worker's message, but no longer than its limit", async () => {
  const { worker } = open();
  worker.post({ kind: "start", pongs: 1_000_000 });
  await worker.ready();
  await worker.waitFor("closed", 1);
  const closed = worker.waitFor("closed", 3600_000);
  worker.post({ kind: "end" });
  await inTime(closed, "the end");
  worker.end();
});

/** Returns the number of ticks until the watchdog reports the worker dead; `undefined`: never. */
function ticksToDeath(
  events: readonly ("on time" | "heard" | { readonly late: number })[],
): number | undefined {
  let now = 1000;
  const watchdog = new Watchdog(() => now);
  for (const [i, event] of events.entries()) {
    if (event === "heard") watchdog.reset();
    now += typeof event === "object" ? PING_MS + event.late : PING_MS;
    if (watchdog.tick() === "dead") return i + 1;
  }
  return undefined;
}

const T = "on time";
const H = "heard";
const FROZEN = { late: 22_000 };
const CASES: readonly (readonly [string, Parameters<typeof ticksToDeath>[0], number | undefined])[] = [
  ["a worker that never answers is dead after four pings", [T, T, T, T, T, T], 5],
  ["a worker that answers stays alive", [H, H, H, H, H, H, H, H], undefined],
  ["one answer resets the count of unanswered pings", [T, T, T, T, H, T, T, T, T], 9],
  ["no worker is dead because we were frozen ourselves", [H, FROZEN, H, H], undefined],
  ["no worker is dead because we freeze repeatedly", [T, T, T, FROZEN, T, T, FROZEN, T, T, T], undefined],
  ["a dead worker is detected after a freeze", [T, FROZEN, T, T, T, T], 6],
  ["a tick within the usual delay of timers is on time", [T, T, { late: 4000 }, T, { late: 4000 }], 5],
];
for (const [what, events, expected] of CASES) {
  Deno.test(`Watchdog: ${what}`, () => assert.equal(ticksToDeath(events), expected));
}
