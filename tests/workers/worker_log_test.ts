import assert from "node:assert/strict";
import { workerLog } from "../../src/workers/worker_log.ts";

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
  Deno.test(`roomLog() sends a line of level ${level} at once, with all before it`, () => {
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
