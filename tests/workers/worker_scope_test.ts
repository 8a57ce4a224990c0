import assert from "node:assert/strict";
import type { Report } from "../../src/workers/worker_message.ts";
import { Measurements, workerLog } from "../../src/workers/worker_scope.ts";
import { type Increments, sample } from "../../src/metrics/counters.ts";
import { VirtualTime } from "../fixtures/virtual_time.ts";

/** Returns a worker's log, and the number of lines of each batch that it posted. */
function recorded() {
  const batches: number[] = [];
  let told = () => {};
  const worker = workerLog((text) => {
    batches.push(text.split("\n").length - 1);
    told();
  }, "info");
  return { ...worker, batches, posted: () => new Promise<void>((resolve) => told = resolve) };
}

Deno.test("workerLog() collects lines for a short time", async () => {
  const { log, batches, posted } = recorded();
  log.info("one");
  log.info("two");
  assert.deepEqual(batches, []);
  await posted();
  assert.deepEqual(batches, [2]);
});

for (const level of ["warn", "error"] as const) {
  Deno.test(`workerLog() sends a line of level ${level} at once, with all earlier lines`, () => {
    const { log, batches } = recorded();
    log.info("one");
    log[level]("two");
    assert.deepEqual(batches, [2]);
  });
}

Deno.test("workerLog() collects at most 200 lines", () => {
  const { log, batches, flush } = recorded();
  for (let i = 0; i < 199; i++) log.info("line");
  assert.deepEqual(batches, []);
  log.info("line");
  assert.deepEqual(batches, [200]);
  log.info("line");
  flush();
  flush();
  assert.deepEqual(batches, [200, 1]);
});

const COUNTS = [sample("authserver_core_up", {}, 1)];

/** Returns measurements of a worker in virtual time. */
function measured(counts: Increments = COUNTS, collect = () => {}) {
  const time = new VirtualTime();
  const reports: Report[] = [];
  const state = { counts, workedMs: 0 };
  const measurements = new Measurements(() => state.counts, (report) => reports.push(report), {
    elapsed: time.clock,
    worked: () => state.workedMs,
    schedule: time.schedule,
    collect,
  });
  return {
    state,
    measurements,
    reports,
    pass: (ms: number) => time.advance(ms, () => Promise.resolve()),
    /** Stalls the event loop. */
    stall: (ms: number) => time.now += ms,
  };
}

Deno.test("Measurements detects stalls of the event loop, and reports all since the last report", async () => {
  const { measurements, reports, pass, stall } = measured();
  stall(500);
  await pass(0);
  measurements.rejected();
  stall(550);
  await pass(0);
  measurements.report();
  const [first, second] = reports;
  assert(first && second);
  assert.deepEqual([first.delaysMs, first.counts, first.rejections], [[250, 300], COUNTS, 1]);
  assert.deepEqual([second.delaysMs, second.ownDelayMs, second.rejections], [[], 0, 0]);
});

Deno.test("Measurements distinguishes a stall by own work from one without a free processor", async () => {
  /** Returns the delay by own work, if a check is a second late and the thread worked for `workedMs`. */
  const ownDelay = async (workedMs: number) => {
    const { state, reports, pass, stall } = measured();
    stall(1250);
    state.workedMs = workedMs;
    await pass(0);
    assert.deepEqual(reports.map(({ delaysMs }) => delaysMs), [[1000]]);
    return reports[0]?.ownDelayMs;
  };
  assert.equal(await ownDelay(30), 30);
  assert.equal(await ownDelay(1240), 1000, "no longer than the callers waited");
});

Deno.test("Measurements wakes an idle worker every two seconds, and the supervisor every six", async () => {
  const { state, reports, pass, stall } = measured([]);
  await pass(2000);
  assert.equal(reports.length, 1);
  reports.length = 0;
  await pass(60_000);
  assert.deepEqual(reports.map(({ delaysMs }) => delaysMs), Array(10).fill([0, 0, 0]));
  reports.length = 0;
  state.counts = COUNTS;
  await pass(2000);
  assert.deepEqual(reports[0]?.counts, COUNTS, "within two seconds after something is counted");
  await pass(2000);
  assert.equal(reports.at(-1)?.delaysMs.length, 4, "it looks as often again");
  state.counts = [];
  await pass(60_000);
  reports.length = 0;
  stall(1300);
  await pass(0);
  assert.deepEqual(reports.map(({ delaysMs }) => delaysMs.at(-1)), [300], "at once after a stall");
});

Deno.test("Measurements collects garbage while the worker is idle", async () => {
  let collected = 0;
  const { state, pass } = measured(COUNTS, () => collected++);
  await pass(60_000);
  assert.equal(collected, 0, "not while it works");
  state.counts = [];
  await pass(28_000);
  assert.equal(collected, 0, "not at once");
  state.workedMs += 60;
  await pass(28_000);
  assert.equal(collected, 0, "not after work that it does not count");
  await pass(12_000);
  assert.equal(collected, 1);
});
