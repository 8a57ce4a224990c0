/** What a monitoring system sees of a service: `authserver status`, from anywhere, also of one that hangs. */
import assert from "node:assert/strict";
import { runToEnd } from "../build/every_command.ts";
import { runService, settled, type SystemUnderTest } from "./running_service.ts";
import { runFromSource } from "./service_process.ts";

function status(system: Pick<SystemUnderTest, "main">, args: readonly string[], cwd = "/") {
  return runToEnd(
    new Deno.Command(Deno.execPath(), {
      args: [...runFromSource(), "status", "--config", system.main, ...args],
      cwd,
      stdin: "piped",
      stdout: "piped",
      stderr: "piped",
    }),
  );
}

Deno.test("status --nagios is OK, and UNKNOWN within its time limit for a service that hangs", async () => {
  await using system = await runService();
  await settled(system);
  const well = await status(system, ["--nagios"]);
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

Deno.test("status finds a service whose configuration has relative paths from any folder", async () => {
  await using system = await runService({
    properties: { "container.logging.file": "logs/authserver.log" },
  });
  await settled(system);
  assert.equal((await status(system, [])).code, 0);
});
