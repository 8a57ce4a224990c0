import assert from "node:assert/strict";
import type { Report } from "../../src/workers/worker_message.ts";
import { Measurements, workerLog } from "../../src/workers/worker_scope.ts";
import { sample } from "../../src/metrics/counters.ts";

/** A worker's log, and what was posted so far: the number of lines of each batch. */
function recorded() {
  const batches: number[] = [];
  let told = () => {};
  const worker = workerLog((text) => {
    batches.push(text.split("\n").length - 1);
    told();
  }, "info");
  return { ...worker, batches, posted: () => new Promise<void>((resolve) => told = resolve) };
}

Deno.test("workerLog() has lines wait for company, but not for long", async () => {
  const { log, batches, posted } = recorded();
  log.info("one");
  log.info("two");
  assert.deepEqual(batches, []);
  await posted();
  assert.deepEqual(batches, [2]);
});

for (const level of ["warn", "error"] as const) {
  Deno.test(`workerLog() sends a line of level ${level} at once, with all before it`, () => {
    const { log, batches } = recorded();
    log.info("one");
    log[level]("two");
    assert.deepEqual(batches, [2]);
  });
}

Deno.test("workerLog() has no more than 500 lines wait", () => {
  const { log, batches, flush } = recorded();
  for (let i = 0; i < 499; i++) log.info("line");
  assert.deepEqual(batches, []);
  log.info("line");
  assert.deepEqual(batches, [500]);
  log.info("line");
  flush();
  flush();
  assert.deepEqual(batches, [500, 1]);
});

const COUNTS = [sample("authserver_core_up", {}, 1)];

Deno.test({
  name: "Measurements finds how long the event loop stood still, and reports all since the last time",
  sanitizeOps: false, // it runs as long as its worker
  sanitizeResources: false,
  async fn() {
    const reports: Report[] = [];
    let now = 0;
    let told = () => {};
    let looked = () => {};
    const elapsed = () => {
      looked();
      return now;
    };
    const measurements = new Measurements(() => COUNTS, (report) => {
      reports.push(report);
      told();
    }, { elapsed, worked: () => 0 });
    now = 500;
    await new Promise<void>((resolve) => looked = resolve);
    measurements.rejected();
    now = 1050;
    await new Promise<void>((resolve) => told = resolve);
    measurements.report();
    const [first, second] = reports;
    assert(first && second);
    assert.deepEqual([first.delaysMs, first.counts, first.rejections], [[250, 300], COUNTS, 1]);
    assert.deepEqual([second.delaysMs, second.ownDelayMs, second.rejections], [[], 0, 0]);
  },
});

Deno.test({
  name: "Measurements tells a stall by own work from one for want of a processor",
  sanitizeOps: false, // it runs as long as its worker
  sanitizeResources: false,
  async fn() {
    /** What is found if from one look to the next a second passes, of which the thread ran so long. */
    const ownDelay = async (workedMs: number) => {
      let [now, worked] = [0, 0];
      const { promise, resolve } = Promise.withResolvers<Report>();
      new Measurements(() => COUNTS, resolve, {
        elapsed: () => now,
        worked: () => worked,
      });
      [now, worked] = [1250, workedMs];
      const { delaysMs, ownDelayMs } = await promise;
      assert.deepEqual(delaysMs, [1000]);
      return ownDelayMs;
    };
    assert.equal(await ownDelay(30), 30);
    assert.equal(await ownDelay(1240), 1000, "no longer than the callers waited");
  },
});
