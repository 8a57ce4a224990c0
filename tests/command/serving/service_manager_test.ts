import assert from "node:assert/strict";
import { connectServiceManager } from "../../../src/command/serving/service_manager.ts";
import { startService } from "../../../src/command/serving/running_service.ts";
import { writeDemoConfiguration } from "../../demo/demo_configuration.ts";
import { createAuthority } from "../../pki/authority.ts";
import { createSite } from "../../system/running_service.ts";
import { inTime } from "../../fixtures/deadline.ts";
import { Notified } from "../notified.ts";

function connect(environment: Readonly<Record<string, string>>) {
  const failures: unknown[] = [];
  const manager = connectServiceManager((name) => environment[name], (error) => failures.push(error));
  return { manager, failures };
}

for (
  const [kind, open] of [["a path", Notified.atPath], ["an abstract name", Notified.abstract]] as const
) {
  Deno.test(`connectServiceManager() notifies a socket with ${kind}, in order`, async () => {
    await using notified = await open();
    const { manager, failures } = connect({ NOTIFY_SOCKET: notified.address });
    manager.ready("Serving\nREADY=0");
    manager.reloading();
    manager.alive();
    manager.stopping(0);
    manager.stopping(30);
    manager.close();
    assert.deepEqual([
      await notified.next(),
      await notified.next(),
      await notified.next(),
      await notified.next(),
      await notified.next(),
    ], [
      "READY=1\nSTATUS=Serving READY=0",
      "RELOADING=1\nSTATUS=Reading the configuration again",
      "WATCHDOG=1",
      "STOPPING=1\nSTATUS=Requests under way finish",
      "STOPPING=1\nEXTEND_TIMEOUT_USEC=90000000\nSTATUS=Draining for 30 s",
    ]);
    assert.deepEqual(failures, []);
  });
}

Deno.test("connectServiceManager() works without a manager", () => {
  const environments: Record<string, string>[] = [{}, { NOTIFY_SOCKET: "" }, { WATCHDOG_USEC: "1000000" }];
  for (const environment of environments) {
    assert.equal(connect(environment).manager.notify, undefined);
  }
});

Deno.test("connectServiceManager() reports once that the manager cannot be reached", async () => {
  const { promise, resolve } = Promise.withResolvers<unknown>();
  let told = 0;
  const manager = connectServiceManager(
    (name) => name === "NOTIFY_SOCKET" ? "/nonexistent/notify" : undefined,
    (error) => {
      told++;
      resolve(error);
    },
  );
  manager.ready("Serving");
  manager.alive();
  manager.close();
  assert(await promise instanceof Deno.errors.NotFound);
  assert.equal(told, 1);
});

Deno.test("connectServiceManager() reads the watchdog interval", async () => {
  await using notified = Notified.abstract();
  const cases: readonly [Record<string, string>, number | undefined][] = [
    [{}, undefined],
    [{ WATCHDOG_USEC: "30000000" }, 30_000],
    [{ WATCHDOG_USEC: "30000000", WATCHDOG_PID: String(Deno.pid) }, 30_000],
    [{ WATCHDOG_USEC: "30000000", WATCHDOG_PID: "1" }, undefined],
    [{ WATCHDOG_USEC: "0" }, undefined],
    [{ WATCHDOG_USEC: "-5" }, undefined],
    [{ WATCHDOG_USEC: "1e9" }, undefined],
    [{ WATCHDOG_USEC: "soon" }, undefined],
  ];
  for (const [environment, expected] of cases) {
    const { manager } = connect({ NOTIFY_SOCKET: notified.address, ...environment });
    assert.equal(manager.watchdogMs, expected, JSON.stringify(environment));
    manager.close();
  }
});

Deno.test("startService() reloads files that change while it starts", async () => {
  await using site = await createSite();
  const main = await Deno.readTextFile(site.main);
  const { promise: reloaded, resolve } = Promise.withResolvers<void>();
  let isFirst = true;
  const service = await startService(site.main, () => {}, {
    console(text) {
      if (isFirst) Deno.writeTextFileSync(site.main, `${main}authservice.server.HPC.description=new\n`);
      isFirst = false;
      if (/configuration reloaded/.test(text)) resolve();
    },
  });
  await inTime(reloaded, "the reload");
  service.stop();
  await service.stopped;
});

Deno.test("startService() notifies the manager of start, watchdog, successful and failed reloads, and stop", async () => {
  const folder = await Deno.makeTempDir();
  await using notified = await Notified.atPath();
  const { manager } = connect({ NOTIFY_SOCKET: notified.address, WATCHDOG_USEC: "40000" });
  const file = await writeDemoConfiguration({
    folder,
    authority: createAuthority({ subject: "CN=Test CA" }),
    daemon: { host: "127.0.0.1", listenPort: 1, commandPort: 1 },
  }, { port: 0 });
  const service = await startService(file, () => {}, { manager });
  try {
    assert.equal(
      await notified.next(),
      `READY=1\nSTATUS=Serving port ${service.port}, configuration 1`,
    );
    assert.equal(await notified.next(), "WATCHDOG=1");
    service.reload();
    assert.match(await notified.nextChange(), /^RELOADING=1\n/);
    assert.match(await notified.nextChange(), /^READY=1\nSTATUS=.*configuration 2$/);
    await Deno.writeTextFile(file, "nonsense");
    service.reload();
    assert.match(await notified.nextChange(), /^RELOADING=1\n/);
    assert.match(await notified.nextChange(), /^READY=1\nSTATUS=.*configuration 2$/);
  } finally {
    service.stop();
    await service.stopped;
    await Deno.remove(folder, { recursive: true });
  }
  let last = await notified.nextChange();
  while (!last.startsWith("STOPPING")) last = await notified.nextChange(); // the watcher may reload too
  assert.equal(last, "STOPPING=1\nSTATUS=Requests under way finish");
});
