import assert from "node:assert/strict";
import { Crowd } from "../../src/daemon/crowd.ts";
import { Daemons } from "../../src/daemon/daemons.ts";
import { createDaemonGroup } from "../../src/daemon/daemon_pool.ts";
import { SILENT } from "../../src/logging/logger.ts";
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

/** So many instances that open these sessions together: the connections that the daemon had. */
async function serve(instances: number, sessions: number) {
  await using daemon = await startTlsDaemon({ maxSessions: 100 });
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
  await Promise.all(
    groups.flatMap((group) =>
      Array.from({ length: sessions / instances }, () => group.openSession(ORDER, { signal }))
    ),
  );
  await Promise.all(groups.map((group) => group.close()));
  return { mostAccountStatus: daemon.crowding.mostAccountStatus, connections: daemon.connections };
}

Deno.test("three instances have no more connections at a daemon than it takes, and ask it no more than one would", async () => {
  const { mostAccountStatus, connections } = await serve(3, 60);
  assert.ok(mostAccountStatus <= 4, `${mostAccountStatus} connections at once`);
  assert.ok(connections <= 60 + 3, "one ping each");
});
