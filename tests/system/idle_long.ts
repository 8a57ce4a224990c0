/** Cost of an instance without requests: processor time of its own and of its database. */
import assert from "node:assert/strict";
import { setTimeout as delay } from "node:timers/promises";
import { POSTGRES } from "../fixtures/postgres.ts";
import { note } from "../long/results.ts";
import { SeveralInstances } from "./several_instances.ts";

const INSTANCES = 3;
/** Time until code that runs once a second is compiled, and the garbage of the start is collected. */
const SETTLING_MS = 300_000;
const MEASURED_MS = 60_000;
/** Promised limit of the database's time for one instance, in milliseconds per second. */
const MOST_MS = 5;
/** Limit of wake-ups per second, which cost more than the work that follows; a busy machine has fewer. */
const MOST_WAKINGS = 30;

interface Thread {
  readonly name: string;
  readonly ms: number; // processor time
  readonly wakings: number;
}

/** Returns the threads of a process by their id. */
function threadsOf(pid: number): Map<string, Thread> {
  const tasks = `/proc/${pid}/task`;
  return new Map(
    [...Deno.readDirSync(tasks)].flatMap(({ name: task }) => {
      try {
        const read = (file: string) => Deno.readTextFileSync(`${tasks}/${task}/${file}`);
        const wakings = /^voluntary_ctxt_switches:\s*(\d+)/m.exec(read("status"))?.[1];
        const ms = parseInt(read("schedstat")) / 1e6;
        return [[task, { name: read("comm").trim(), ms, wakings: Number(wakings) }]];
      } catch (error) {
        if (error instanceof Deno.errors.NotFound) return []; // it has ended
        throw error;
      }
    }),
  );
}

/** Returns the work of threads of each name since an earlier state, per second and instance. */
function doneBy(before: readonly Map<string, Thread>[], seconds: number, pids: readonly number[]): Thread[] {
  const done = new Map<string, Thread>();
  for (const [i, pid] of pids.entries()) {
    for (const [task, { name, ms, wakings }] of threadsOf(pid)) {
      const [then, so] = [before[i]?.get(task), done.get(name)];
      const share = (now: number, earlier = 0, sum = 0) => sum + (now - earlier) / seconds / pids.length;
      done.set(name, {
        name,
        ms: share(ms, then?.ms, so?.ms),
        wakings: share(wakings, then?.wakings, so?.wakings),
      });
    }
  }
  return [...done.values()];
}

Deno.test({
  name: "an idle instance costs its database next to nothing, and seldom wakes up",
  ignore: POSTGRES === undefined || Deno.build.os !== "linux",
}, async () => {
  await using several = await SeveralInstances.start({ instances: INSTANCES });
  const { server, instances } = several;
  await delay(SETTLING_MS);
  const pids = instances.map(({ process }) => process.pid);
  const [before, earlier, at] = [pids.map(threadsOf), await server.usedMs(), performance.now()];
  await delay(MEASURED_MS);
  const seconds = (performance.now() - at) / 1000;
  const threads = doneBy(before, seconds, pids);
  const database = (await server.usedMs() - earlier) / seconds / INSTANCES;
  const sum = (of: (thread: Thread) => number) => threads.reduce((all, thread) => all + of(thread), 0);
  const [own, wakings] = [sum(({ ms }) => ms), sum((thread) => thread.wakings)];
  for (const { name, ms, wakings } of threads) console.log(name, ms.toFixed(2), wakings.toFixed(1));
  const outcome = `${own.toFixed(1)} ms/s of its own for ${wakings.toFixed(0)} wake-ups, ` +
    `${database.toFixed(1)} ms/s of the database`;
  console.log(outcome);
  note("instances", {
    trial: "processor time of an idle instance",
    done: `${INSTANCES} instances, ${MEASURED_MS / 1000} s after ${SETTLING_MS / 1000} s`,
    outcome,
  });
  assert.ok(database <= MOST_MS, outcome);
  assert.ok(wakings <= MOST_WAKINGS, outcome);
});
