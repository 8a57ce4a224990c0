/**
 * Service as a monitoring system sees it: `authserver status`, from any folder, and while the service hangs.
 */
import assert from "node:assert/strict";
import { runToEnd } from "../build/every_command.ts";
import { runCommand } from "../../src/command/run_command.ts";
import { recordedIo } from "../command/recorded_io.ts";
import { until } from "../fixtures/deadline.ts";
import { freePort } from "../fixtures/free_port.ts";
import { ALICE, runService, settled, type SystemUnderTest } from "./running_service.ts";
import { runFromSource } from "./service_process.ts";

/** Runs the command in this process. */
async function status(system: Pick<SystemUnderTest, "main">, args: readonly string[]) {
  const io = recordedIo();
  return { code: await runCommand(["status", "--config", system.main, ...args], io), out: io.out };
}

/** Runs the command in a process of its own, in the root folder. */
function statusFromRoot(system: Pick<SystemUnderTest, "main">, args: readonly string[]) {
  return runToEnd(
    new Deno.Command(Deno.execPath(), {
      args: [...runFromSource(), "status", "--config", system.main, ...args],
      cwd: "/",
      stdin: "piped",
      stdout: "piped",
      stderr: "piped",
    }),
  );
}

Deno.test("status finds a service with relative paths from any folder, and reports UNKNOWN within the time limit if it hangs", async () => {
  await using system = await runService({
    properties: { "container.logging.file": "logs/authserver.log" },
  });
  await settled(system);
  assert.equal((await status(system, [])).code, 0);
  const well = await statusFromRoot(system, ["--nagios"]);
  assert.deepEqual([well.code, well.err], [0, ""]);
  assert.match(well.out, /^AUTHSERVER OK - 1 of 1 servers usable \| servers=1;;;0;1 sessions=0c .*\n$/);

  Deno.kill(system.service.pid, "SIGSTOP");
  try {
    const hung = await status(system, ["--nagios", "--timeout", "1s"]);
    assert.equal(hung.code, 3);
    assert.match(hung.out, /^AUTHSERVER UNKNOWN - The service gave no answer: no answer within 1 s\n$/);
    assert.equal((await status(system, ["--timeout", "1"])).code, 1);
  } finally {
    Deno.kill(system.service.pid, "SIGCONT");
  }

  system.service.stop();
  await system.service.stopped;
  const gone = await status(system, ["--nagios"]);
  assert.equal(gone.code, 2);
  assert.match(gone.out, /^AUTHSERVER CRITICAL - no service listens at .*\n$/);
});

Deno.test("status and metrics report an attribute source that is down", async () => {
  const [metrics, away] = [freePort(), freePort()];
  const source = (name: string) => ({
    [`${name}.class`]: "XUUDBAttributeSource",
    [`${name}.xuudbHost`]: "https://localhost",
    [`${name}.xuudbPort`]: String(away),
    [`${name}.xuudbGCID`]: "X",
  });
  await using system = await runService({
    properties: {
      "container.security.attributes.order": "FILE MORE",
      "container.security.attributes.MORE.class": "AttributeSourcesChain",
      "container.security.attributes.MORE.order": "ACCOUNTS",
      ...source("container.security.attributes.ACCOUNTS"),
      "container.security.dynamicAttributes.order": "DYNAMIC",
      ...source("container.security.dynamicAttributes.DYNAMIC"),
      "container.metrics.port": String(metrics),
    },
  });
  await settled(system);
  assert.equal((await system.ask("/rest/auth", { as: ALICE })).status, 503);
  const io = recordedIo();
  assert.equal(await runCommand(["status", "--config", system.main], io), 1);
  assert.match(io.out, /^ {2}attributes\.ACCOUNTS +DOWN +localhost:\d+ +no connection: /m);
  assert.match(io.out, /^ {2}attributes\.DYNAMIC +unknown +localhost:\d+ *$/m);
  const page = async () => await (await fetch(`http://127.0.0.1:${metrics}/metrics`)).text();
  const line = 'authserver_identity_provider_up{authenticator="attributes.ACCOUNTS"} 0\n';
  await until(async () => (await page()).includes(line));
});
