/** No free file descriptors: the service accepts no connections, and the platform gives up its listeners. */
import assert from "node:assert/strict";
import { ask } from "../system/ask.ts";
import { createSite } from "../system/running_service.ts";
import { runAuthserver, type ServiceProcess } from "../system/service_process.ts";
import { note, within } from "./fault_table.ts";

const EDGE_DIED = /edge died, starting another .*it takes no connections any more/;

interface Listener {
  readonly port: number;
  /** Sends a request. Throws if there is no answer. */
  readonly ask: () => Promise<unknown>;
}

Deno.test({
  name:
    "a service that ran out of file descriptors serves again once some are free: users, metrics, operator",
  ignore: Deno.build.os !== "linux",
  async fn() {
    await using site = await createSite({
      properties: { "container.metrics.port": "0", "container.control.socket": "{folder}/c" },
    });
    const service = runAuthserver(["serve", "--config", site.main]);
    try {
      const [, metrics] = await service.prints(/metrics page .*port=(\d+)/);
      const [, port] = await service.prints(/service started .*port=(\d+)/);
      const [ca, user] = [site.authority.certificate, `https://localhost:${port}/health/live`];
      assert.equal((await ask(user, ca)).status, 200);
      const page = `http://localhost:${metrics}/metrics`;
      const listeners: readonly Listener[] = [
        { port: Number(port), ask: () => ask(user, ca) },
        { port: Number(metrics), ask: () => fetch(page).then((page) => page.text()) },
      ];
      // A listener survives if it accepted nothing while descriptors were missing: then the test tries again.
      let since = performance.now();
      for (let goOn = true; goOn;) {
        using _starved = await starve(service, listeners, `${site.folder}/c`);
        since = performance.now();
        goOn = (await Promise.all(listeners.map((listener) => goesOn(service, listener)))).every(Boolean);
      }
      assert.equal(await runAuthserver(["status", "--config", site.main]).ended, 0);
      await service.prints(/worker replaced what=edge/);
      assert.equal((await ask(user, ca)).status, 200);
      assert.match(await (await fetch(page)).text(), /authserver_/);
      note({
        section: "Process",
        fault: "the process has no free file descriptor for a while",
        caller: "new connections hang until there are descriptors and a new edge listens",
        log: "`control socket could not take a caller, trying again`, `edge died, starting another`",
        after: `users, metrics and control socket recover ${
          within(performance.now() - since)
        } after descriptors are free`,
      });
    } finally {
      service.kill("SIGTERM");
      await service.ended;
    }
  },
});

Deno.test({
  name: "1,080 half-open connections at a limit of 1,024 descriptors stop no listener",
  ignore: Deno.build.os !== "linux",
  async fn() {
    await using site = await createSite({
      properties: { "container.metrics.port": "0", "container.control.socket": "{folder}/c" },
    });
    const service = runAuthserver(["serve", "--config", site.main], {
      under: ["prlimit", "--nofile=1024:1024"],
    });
    try {
      const [, metrics] = await service.prints(/metrics page .*port=(\d+)/);
      const [, port] = await service.prints(/service started .*port=(\d+)/);
      const halfOpen: Deno.TcpConn[] = [];
      while (halfOpen.length < 1080) halfOpen.push(await Deno.connect({ port: Number(port) }));
      // The listener still accepts connections beyond the limit of one address, and closes them at once.
      await Promise.any(halfOpen.map((connection) => connection.read(new Uint8Array(1)).catch(() => null)));
      const page = await fetch(`http://localhost:${metrics}/metrics`);
      assert.match(await page.text(), /authserver_/);
      assert.equal(await runAuthserver(["status", "--config", site.main]).ended, 0);
      halfOpen.forEach((connection) => connection.close());
      const [ca, user] = [site.authority.certificate, `https://localhost:${port}/health/live`];
      while (await ask(user, ca).then(({ status }) => status !== 200, () => true));
      assert.doesNotMatch(service.printed, / died, starting another/);
    } finally {
      service.kill("SIGTERM");
      await service.ended;
    }
  },
});

/** Connects callers while the service has no free descriptors, and gives it descriptors again. */
async function starve(
  service: ServiceProcess,
  listeners: readonly Listener[],
  control: string,
): Promise<DisposableStack> {
  const waiting = new DisposableStack();
  const before = service.printed.length;
  await setOpenFiles(service.pid, 10); // fewer than are open
  for (const { port } of listeners) waiting.use(await Deno.connect({ port }));
  waiting.use(await Deno.connect({ transport: "unix", path: control }));
  await service.prints(/control socket could not take a caller, trying again/, before);
  await setOpenFiles(service.pid, 20_000);
  return waiting;
}

/** Reports whether a listener answers before the supervisor finds the edge dead. */
function goesOn(service: ServiceProcess, { ask }: Listener): Promise<boolean> {
  const dead = service.prints(EDGE_DIED).then(() => false);
  return Promise.race([ask().then(() => true, () => dead), dead]);
}

/** Changes the limit of another process (`prlimit` of util-linux). */
async function setOpenFiles(pid: number, most: number): Promise<void> {
  const { success } = await new Deno.Command("prlimit", {
    args: [`--pid=${pid}`, `--nofile=${most}:20000`],
  }).output();
  assert(success, "prlimit failed");
}
