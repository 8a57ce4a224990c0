/**
 * One-time shares with concurrent uses on several instances, while one is killed and the database crashes.
 */
import { until } from "../fixtures/deadline.ts";
import assert from "node:assert/strict";
import { Agent } from "node:https";
import { LONG } from "../long/results.ts";
import { type Instance, SeveralInstances } from "./several_instances.ts";

/** Number of concurrent uses. */
const USES = LONG ? 300 : 45;

/** Outcome of one use: the status, or `cut` if the client got no complete answer. */
type Outcome = number | "cut";

/** Faults in the middle of a round. */
const FAULTS = ["nothing", "instance killed", "database stopped", "both"] as const;

/** Result of a round. */
export interface Round {
  readonly fault: typeof FAULTS[number];
  /** Number of uses with each outcome. */
  readonly outcomes: ReadonlyMap<Outcome, number>;
}

/**
 * Uses a one-time share many times at once, over all instances.
 * @throws {AssertionError} If the answers and the database do not show exactly one use.
 */
export async function oneTimeRound(several: SeveralInstances, number: number): Promise<Round> {
  const fault = FAULTS[number % FAULTS.length] ?? "nothing";
  const id = await several.share(await several.file(`round${number}.txt`), { onetime: true });
  const path = `/rest/access/HPC/${id}`;
  const victim = number % several.instances.length;
  const agents = several.instances.map(() => new Agent({ keepAlive: true, maxSockets: 20 }));
  const answered = { count: 0, midst: Promise.withResolvers<void>() };
  const midst = (number * 37) % (USES / 3);
  const use = async (instance: Instance, agent: Agent | undefined): Promise<Outcome> => {
    const reply = await instance.ask(path, { agent }).catch(() => undefined);
    if (answered.count++ === midst) answered.midst.resolve();
    if (reply?.status !== 200) return reply?.status ?? "cut";
    return reply.text === "0123456789" ? 200 : "cut";
  };
  const uses = Array.from({ length: USES }, (_, i) => {
    const at = i % several.instances.length;
    const instance = several.instances[at];
    assert.ok(instance);
    return use(instance, agents[at]);
  });
  await answered.midst.promise;
  const restored = strike(several, fault, victim);
  const outcomes = new Map<Outcome, number>();
  for (const outcome of await Promise.all(uses)) outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
  await restored;
  agents.forEach((agent) => agent.destroy());
  await checkHistory(several, id, outcomes);
  return { fault, outcomes };
}

/** Causes the fault in the middle of a round, and repairs everything. */
async function strike(several: SeveralInstances, fault: Round["fault"], victim: number): Promise<void> {
  const kills = fault === "instance killed" || fault === "both";
  const stops = fault === "database stopped" || fault === "both";
  if (kills) several.instances[victim]?.process.kill("SIGKILL");
  if (stops) {
    await several.server.stop();
    await several.server.run();
  }
  if (kills) {
    await several.instances[victim]?.process.ended;
    several.instances[victim] = await several.startInstance(victim);
  }
  for (const instance of several.instances) {
    await until(async () => {
      const { status, json } = await instance.ask("/health/ready");
      return status === 200 && json()["degraded"] === false;
    });
  }
}

/** Checks that the answers to clients match the database, which has one use. */
async function checkHistory(
  several: SeveralInstances,
  id: string,
  outcomes: ReadonlyMap<Outcome, number>,
): Promise<void> {
  const told = JSON.stringify([...outcomes]);
  const first = outcomes.get(200) ?? 0;
  assert.ok(first <= 1, `used ${first} times: ${told}`);
  for (const outcome of outcomes.keys()) {
    assert.ok(["cut", 200, 404, 503].includes(outcome), `${outcome} is no answer to a use: ${told}`);
  }
  // Everything works again: a client without an answer may try again.
  const again = await decided(several, id);
  const unknown = (outcomes.get("cut") ?? 0) + (outcomes.get(503) ?? 0);
  assert.ok(again.status === 404 || (again.status === 200 && first === 0), `${again.status} after ${told}`);
  assert.ok(first + Number(again.status === 200) === 1 || unknown > 0, `nobody used it: ${told}`);
  const last = await decided(several, id);
  assert.equal(last.status, 404);
  const [kept] = await several.server.sql(
    several.database,
    `SELECT access_count AS count, uses_left AS left, (SELECT count(*) FROM authserver.share_use WHERE id = '${id}') AS uses
     FROM authserver.share WHERE id = '${id}'`,
  );
  assert.deepEqual([kept?.["count"], kept?.["left"], kept?.["uses"]].map(Number), [1, 0, 1], told);
}

/** Returns the answer to a use once the database has had time for it. */
async function decided({ one }: SeveralInstances, id: string) {
  for (;;) {
    const reply = await one.ask(`/rest/access/HPC/${id}`);
    if (reply.status !== 503) return reply;
  }
}
