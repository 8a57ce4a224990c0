/** What an instance costs that nobody asks for anything: processor time of its own, and of its database. */
import assert from "node:assert/strict";
import { setTimeout as delay } from "node:timers/promises";
import { POSTGRES, type TestPostgres } from "../fixtures/postgres.ts";
import { note } from "../long/results.ts";
import { SeveralInstances } from "./several_instances.ts";

const INSTANCES = 3;
const SETTLING_MS = 20_000;
const MEASURED_MS = 60_000;
/** What is promised of the database's time for one instance, in milliseconds of a second. */
const MOST_MS = 5;

/** Processor time of a process, and of its children that have ended if wanted, in milliseconds; a tick is ten. */
function usedMs(pid: number, withEnded = false): number {
  const stat = Deno.readTextFileSync(`/proc/${pid}/stat`);
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ").map(Number);
  return 10 * fields.slice(11, withEnded ? 15 : 13).reduce((sum, ticks) => sum + ticks, 0);
}

/** Processor time of all processes of the database, also of those that have ended. */
async function usedByDatabase(server: TestPostgres): Promise<number> {
  const first = await server.pid();
  const children = Deno.readTextFileSync(`/proc/${first}/task/${first}/children`).trim().split(" ").map(
    Number,
  );
  return [...children.map((pid) => usedMs(pid)), usedMs(first, true)].reduce((sum, ms) => sum + ms, 0);
}

Deno.test({
  name: "an instance that nobody asks costs its database next to nothing",
  ignore: POSTGRES === undefined || Deno.build.os !== "linux",
}, async () => {
  await using several = await SeveralInstances.start({ instances: INSTANCES });
  const { server, instances } = several;
  await delay(SETTLING_MS);
  const pids = instances.map(({ process }) => process.pid);
  const used = async () => ({
    own: pids.reduce((sum, pid) => sum + usedMs(pid), 0),
    database: await usedByDatabase(server),
    at: performance.now(),
  });
  const before = await used();
  await delay(MEASURED_MS);
  const after = await used();
  const seconds = (after.at - before.at) / 1000;
  const [own, database] = [after.own - before.own, after.database - before.database]
    .map((ms) => ms / seconds / INSTANCES);
  assert.ok(own !== undefined && database !== undefined);
  const outcome = `${own.toFixed(1)} ms/s of its own, ${database.toFixed(1)} ms/s of the database`;
  console.log(outcome);
  note("instances", {
    trial: "processor time of an idle instance",
    done: `${INSTANCES} instances, ${MEASURED_MS / 1000} s after ${SETTLING_MS / 1000} s`,
    outcome,
  });
  assert.ok(database <= MOST_MS, outcome);
});
