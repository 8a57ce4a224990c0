import assert from "node:assert/strict";
import { Crowd } from "../../src/daemon/crowd.ts";
import { Daemons } from "../../src/daemon/daemons.ts";
import { createDaemonGroup } from "../../src/daemon/daemon_pool.ts";
import { SILENT } from "../../src/logging/logger.ts";
import { inTime } from "../fixtures/deadline.ts";
import { material, ORDER, startTlsDaemon } from "./setting.ts";

Deno.test("Crowd has no more connections at a daemon than it has places, however many instances", () => {
  assert.deepEqual([1, 2, 3, 4, 9].map((n) => new Crowd(() => n).underWay(true)), [2, 2, 1, 1, 1]);
  assert.equal(new Crowd(() => 1).underWay(false), 1);
});

Deno.test("Crowd lets others go first where there are more instances than places, while these are taken", () => {
  const few = new Crowd(() => 4);
  for (const ms of [5, 20, 1000]) assert.equal(few.pauseAfter(ms), 0);
  const many = new Crowd(() => 16);
  assert.equal(many.pauseAfter(5), 0, "nobody else is there");
  assert.equal(many.pauseAfter(6), 0);
  const pause = many.pauseAfter(20);
  assert.ok(pause >= 12 * 5 && pause <= 12 * 5.3, String(pause));
  assert.ok(many.pauseAfter(1020) <= 12 * 5.5, "a connection that was dropped and came again");
});

Deno.test("Crowd learns that a daemon has become slower", () => {
  const crowd = new Crowd(() => 5);
  crowd.pauseAfter(1);
  let last = 1;
  for (let i = 0; i < 200; i++) last = crowd.pauseAfter(10);
  assert.equal(last, 0);
});

/** So many instances that open these sessions together. @param whole Sessions that begin only while another is asked for. */
async function serve(instances: number, sessions: number, whole: number) {
  await using daemon = await startTlsDaemon({ maxSessions: 100 });
  daemon.repliesWithNext = whole;
  const groups = Array.from({ length: instances }, () =>
    createDaemonGroup({
      name: "HPC",
      description: "Cluster",
      instances: [{
        host: "hpc.example.org",
        commandHost: daemon.host,
        commandPort: daemon.commandPort,
        ssl: true,
      }],
    }, {
      tls: () => material,
      clock: Date.now,
      log: SILENT,
      daemons: new Daemons({ clusterMembers: () => instances }),
    }));
  const { signal } = new AbortController();
  await inTime(
    Promise.all(
      groups.flatMap((group) =>
        Array.from({ length: sessions / instances }, () => group.openSession(ORDER, { signal }))
      ),
    ),
    "the next connection to a daemon that serves only while one stands ready",
  );
  await Promise.all(groups.map((group) => group.close()));
  return { mostAtOnce: daemon.mostAtOnce, connections: daemon.connections };
}

Deno.test("three instances keep a daemon busy: always a connection stands ready, and never more than it takes", async () => {
  // Of 60 sessions two instances have 40: as long as these last, at least two have something to ask.
  const { mostAtOnce, connections } = await serve(3, 60, 38);
  assert.ok(mostAtOnce >= 2 && mostAtOnce <= 4, `${mostAtOnce} connections at once`);
  assert.ok(connections <= 60 + 3, "one ping each");
});
