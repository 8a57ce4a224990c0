/** What an instance costs that nobody asks for anything: processor time of its own, and of its database. */
import assert from "node:assert/strict";
import { setTimeout as delay } from "node:timers/promises";
import { POSTGRES } from "../fixtures/postgres.ts";
import { note } from "../long/results.ts";
import { SeveralInstances } from "./several_instances.ts";

const INSTANCES = 3;
/** Until what runs once a second is compiled, and the garbage of the start collected. */
const SETTLING_MS = 300_000;
const MEASURED_MS = 60_000;
/** What is promised of the database's time for one instance, in milliseconds of a second. */
const MOST_MS = 5;
/** What an instance is woken at most in a second, which costs more than what it then does; a busy machine wakes it less. */
const MOST_WAKINGS = 30;

interface Thread {
  readonly name: string;
  readonly ms: number; // processor time
  readonly wakings: number;
}

/** Threads of a process by their number. */
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

/** What threads of the same name did since an earlier look, in a second of one instance. */
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
  name: "an instance that nobody asks costs its database next to nothing, and is seldom woken",
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
  const outcome = `${own.toFixed(1)} ms/s of its own for ${wakings.toFixed(0)} wakings, ` +
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
