import assert from "node:assert/strict";
import { CannotStart } from "../../src/workers/cannot_start.ts";
import { WorkerThread } from "../../src/workers/worker_thread.ts";
import type { FromWorker } from "../../src/workers/worker_message.ts";
import { inTime } from "../fixtures/deadline.ts";
import type { Told } from "./pinged_worker.ts";

const MODULE = new URL("./pinged_worker.ts", import.meta.url);
const PERMISSIONS = {
  net: false,
  read: false,
  write: false,
  env: false,
  run: false,
  ffi: false,
  sys: false,
  import: false,
} as const;

/** A worker that is asked for signs of life each millisecond, and what becomes of it. */
function open() {
  const said: FromWorker["kind"][] = [];
  const death = Promise.withResolvers<string>();
  const deaths: string[] = [];
  const worker = new WorkerThread<Told>(MODULE, "pinged", PERMISSIONS, {
    said: ({ kind }) => said.push(kind),
    died: (reason) => {
      deaths.push(reason);
      death.resolve(reason);
    },
    pingMs: 1,
  });
  return { worker, said, deaths, died: () => inTime(death.promise, "its death") };
}

Deno.test("WorkerThread dies that answers no pings any more, and not before", async () => {
  const { worker, said, died, deaths } = open();
  worker.tell({ kind: "start", pongs: 20 });
  const ready = await worker.ready();
  assert.equal(ready.kind, "ready");
  assert.equal(await died(), "no sign of life for 20 s");
  assert.deepEqual(said, ["ready", ...Array.from({ length: 20 }, () => "pong")]);
  await new Promise((resolve) => setTimeout(resolve, 10)); // pings, if it were still asked
  assert.equal(deaths.length, 1);
});

Deno.test("WorkerThread is not asked for signs of life before it is ready, nor after its end", async () => {
  const { worker, deaths } = open();
  await new Promise((resolve) => setTimeout(resolve, 20)); // it would be dead
  worker.tell({ kind: "start", pongs: 1_000_000 });
  await worker.ready();
  worker.end();
  worker.tell({ kind: "break" });
  await new Promise((resolve) => setTimeout(resolve, 20));
  assert.deepEqual(deaths, []);
});

Deno.test("WorkerThread that cannot start says why; that is no death", async () => {
  const { worker, deaths } = open();
  const ready = worker.ready();
  worker.tell({ kind: "fail" });
  await assert.rejects(
    ready,
    (error) => error instanceof CannotStart && error.diagnostics.join() === "no place",
  );
  worker.end();
  assert.deepEqual(deaths, []);
});

Deno.test("WorkerThread dies of a defect, and whoever waits for it is told", async () => {
  const { worker, died } = open();
  const ready = worker.ready();
  worker.tell({ kind: "break" });
  assert.match(await died(), /a defect/);
  await assert.rejects(ready, (error) => error instanceof CannotStart && /a defect/.test(error.message));
  await inTime(worker.closed(3600_000), "the end of one that is dead");
});

Deno.test("WorkerThread.closed() waits for the worker's word, and no longer than it is told", async () => {
  const { worker } = open();
  worker.tell({ kind: "start", pongs: 1_000_000 });
  await worker.ready();
  await worker.closed(1);
  const closed = worker.closed(3600_000);
  worker.tell({ kind: "end" });
  await inTime(closed, "the end");
  worker.end();
});
