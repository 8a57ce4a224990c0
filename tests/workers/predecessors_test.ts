/** Tests cores with a successor: which news they still get, what they pass on, and how their commands end. */
import assert from "node:assert/strict";
import { setImmediate } from "node:timers/promises";
import { startedWorker, workersSoFar } from "../system/worker_spy.ts";
import { LogFile } from "../../src/logging/log_file.ts";
import { loadSnapshot } from "../../src/service/assembly/load_snapshot.ts";
import { Cores } from "../../src/workers/cores.ts";
import { ConnectionLimit, ServingEdge } from "../../src/workers/serving_edge.ts";
import { WorkerLifecycle } from "../../src/workers/worker_lifecycle.ts";
import { WorkerReports } from "../../src/workers/worker_reports.ts";
import { inTime, until } from "../fixtures/deadline.ts";
import { createSite } from "../system/running_service.ts";

const resolveLoopback = () => Promise.resolve(["127.0.0.1"]);

/** Starts cores without a supervisor. @param withEdge Whether an edge keeps requests in every core. */
async function open({ withEdge = false, resolve = resolveLoopback }: {
  readonly withEdge?: boolean;
  readonly resolve?: (host: string) => Promise<readonly string[]>;
} = {}) {
  const site = await createSite();
  const { snapshot, diagnostics } = await loadSnapshot(site.main, { environment: () => undefined });
  assert(snapshot !== undefined, JSON.stringify(diagnostics));
  const ignore = () => {};
  const reports = new WorkerReports(new LogFile(undefined, ignore), snapshot.config, {
    logServer: () => assert.fail("no log server is configured"),
  });
  const edge = withEdge
    ? await ServingEdge.start(snapshot, {
      ...{ port: 0, metricsPort: 0, connections: new ConnectionLimit(1000), resolve: resolveLoopback },
      ...{ onMessage: ignore, died: ignore },
    })
    : undefined;
  const changes = new WorkerLifecycle();
  const cores = new Cores({
    ...{ snapshot: () => snapshot, resolve, reports, changes, upSince: 0 },
    ...{ instance: { id: "one", host: "localhost" }, edges: { current: edge, port: 9000 } },
  });
  const from = workersSoFar();
  const next = async () => {
    cores.use(await cores.prepare(snapshot));
    return await startedWorker(`core ${cores.generation}`, from);
  };
  return {
    ...{ cores, changes, next, prepare: () => cores.prepare(snapshot) },
    started: (name: string) => startedWorker(name, from),
    async [Symbol.asyncDispose]() {
      cores.close();
      await cores.finish();
      edge?.end();
      await reports.close();
      await site[Symbol.asyncDispose]();
    },
  };
}

/** Waits more turns of the event loop than any immediate work needs. */
async function aWhile() {
  for (let i = 0; i < 50; i++) await setImmediate();
}

for (const withEdge of [false, true]) {
  const which = withEdge ? "that still has requests" : "that is closing";
  Deno.test(`Cores.finish() waits until a predecessor ${which} has ended its commands to daemons`, async () => {
    await using setting = await open({ withEdge });
    const { cores, next } = setting;
    const first = await next();
    const held = first.hold();
    const second = await next();
    let isOver = false;
    const finished = cores.finish().then(() => isOver = true);
    await inTime(second.ended, "the end of the core in use");
    await aWhile();
    assert.deepEqual([held.kinds.at(-1), first.ends, isOver], ["close", 0, false]);
    held.release();
    await inTime(finished, "the end of all cores");
    assert.deepEqual([first.ends, second.ends], [1, 1]);
  });
}

Deno.test("Cores.finish() waits for starting and discarded cores", async () => {
  await using setting = await open();
  const { cores, changes, next, prepare, started } = setting;
  await next();
  await prepare();
  const unused = await started("core 2");
  const held = unused.hold();
  cores.discard();
  assert.deepEqual([held.kinds, unused.ends], [["close"], 0]);
  const refused = assert.rejects(prepare(), /shutting down/);
  const starting = await started("core 3");
  changes.stopping = true;
  let isOver = false;
  const finished = cores.finish().then(() => isOver = true);
  await inTime(starting.ended, "the end of the core that starts");
  await aWhile();
  assert.equal(isOver, false);
  held.release();
  await inTime(finished, "the end of all cores");
  await refused;
});

Deno.test("Cores also sends a ban to predecessors with requests", async () => {
  await using setting = await open({ withEdge: true });
  const { cores, next } = setting;
  const held = (await next()).hold();
  await next();
  await cores.call({ command: "ban add", subject: { user: "alice" }, seconds: 60 }, 20_000);
  await until(() => held.kinds.includes("adopt"), { what: "the predecessor learns of the ban" });
  held.release();
});

Deno.test("Cores.lookUpHosts() replaces the core only for a new address", async () => {
  let lookedUp = 0;
  const answers = [["127.0.0.1", "192.0.2.1"], ["127.0.0.1", "192.0.2.2"]];
  await using setting = await open({
    resolve: () => Promise.resolve(answers[lookedUp++ % answers.length] ?? []),
  });
  const { cores, next } = setting;
  await next();
  for (let i = 0; i < 6; i++) await cores.lookUpHosts();
  assert.equal(cores.generation, 2);
  answers.push(["192.0.2.3"]);
  for (let i = 0; i < 6; i++) await cores.lookUpHosts();
  assert.equal(cores.generation, 3);
});

Deno.test("Cores.lookUpHosts() does not accumulate cores with long requests", async () => {
  let address = 0;
  await using setting = await open({
    withEdge: true,
    resolve: () => Promise.resolve(["127.0.0.1", `192.0.2.${++address}`]),
  });
  const { cores, next } = setting;
  await next();
  for (let i = 0; i < 6; i++) await cores.lookUpHosts();
  assert.equal(cores.generation, 5, "four have a successor");
});

Deno.test("Cores notifies a core that it has a successor", async () => {
  await using setting = await open({ withEdge: true });
  const held = (await setting.next()).hold();
  await setting.next();
  assert(held.kinds.includes("retire"));
  held.release();
});
