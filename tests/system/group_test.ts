/** Several daemons behind one name: rotation, fail-over and return (specification 2.1, rule 3). */
import assert from "node:assert/strict";
import { Agent } from "node:https";
import { LONG } from "../long/results.ts";
import { ALICE, runService, settled } from "./running_service.ts";

const MANY = { maxSessions: 10_000 };
const system = await runService({
  servers: {
    HPC: [MANY, MANY],
    DYING: [MANY, MANY],
    SMALL: [{ maxSessions: 2 }, { maxSessions: 1 }],
    SLOW: [{}],
  },
});
await Promise.all(["HPC", "DYING", "SMALL", "SLOW"].map((name) => settled(system, name)));
Deno.test.afterAll(() => system[Symbol.asyncDispose]());

const REQUESTS = LONG ? 1000 : 40;

const POST = { as: ALICE, body: { serverPath: "" } };

Deno.test("all requests succeed while one of two daemons is down, which is used again after its restart", async () => {
  const [first, second] = system.daemons();
  assert(first && second);
  await first.stop();
  using agent = keptAlive(system.authority.certificate);
  const statuses = new Map<number, number>();
  await inParallel(REQUESTS, 16, async () => {
    const { status } = await system.ask("/rest/auth/HPC", { ...POST, agent });
    statuses.set(status, (statuses.get(status) ?? 0) + 1);
  });
  assert.deepEqual([...statuses], [[200, REQUESTS]]);
  assert.equal(second.jobs.slots("alice"), REQUESTS);
  const { status } = (await system.ask("/rest/auth/HPC", { as: ALICE })).json();
  assert.equal(status, `OK [connected to 127.0.0.1:${second.listenPort}; 1 of 2 available]`);

  const lines = system.log.length;
  await first.start();
  await system.logged(/daemon is up again/, lines);
  await Promise.all([system.ask("/rest/auth/HPC", POST), system.ask("/rest/auth/HPC", POST)]);
  assert.equal(first.jobs.slots("alice"), 1);
});

Deno.test("no request fails when a daemon dies under load", async () => {
  const [first] = system.daemons("DYING");
  assert(first);
  using agent = keptAlive(system.authority.certificate);
  let done = 0;
  let dying: Promise<void> | undefined;
  await inParallel(REQUESTS, 16, async () => {
    assert.equal((await system.ask("/rest/auth/DYING", { ...POST, agent })).status, 200);
    if (++done === REQUESTS / 4) dying = first.stop();
  });
  await dying;
});

Deno.test("a group uses its other daemon when one has no session left, and answers 429 when both are full", async () => {
  const statuses: number[] = [];
  for (let i = 0; i < 4; i++) statuses.push((await system.ask("/rest/auth/SMALL", POST)).status);
  assert.deepEqual(statuses, [200, 200, 200, 429]);
});

Deno.test("a client that disconnects leaves no daemon waiting for END", async () => {
  system.daemon("SLOW").delay = 50;
  const before = system.log.length;
  const gone = new Agent({ keepAlive: true, ca: system.authority.certificate });
  const replies = Array.from({ length: 8 }, () => system.ask("/rest/auth/SLOW", { ...POST, agent: gone }));
  const outcomes = Promise.allSettled(replies);
  await system.logged(/audit session/, before);
  gone.destroy();
  await outcomes;
  system.daemon("SLOW").delay = 0;
  assert.equal((await system.ask("/rest/auth/SLOW", POST)).status, 200);
});

/** Returns an agent whose kept-alive connections end with the block. */
function keptAlive(ca: string): Agent & Disposable {
  const agent = new Agent({ keepAlive: true, maxSockets: 16, ca });
  return Object.assign(agent, { [Symbol.dispose]: () => agent.destroy() });
}

/** Repeats an action this many times, `width` of them at once. */
async function inParallel(times: number, width: number, act: () => Promise<void>): Promise<void> {
  let left = times;
  await Promise.all(Array.from({ length: width }, async () => {
    while (left-- > 0) await act();
  }));
}
