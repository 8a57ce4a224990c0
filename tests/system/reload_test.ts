/** `authserver reload`: waits for the outcome, and reports it. */
import assert from "node:assert/strict";
import { runCommand } from "../../src/command/run_command.ts";
import { recordedIo } from "../command/recorded_io.ts";
import { runService } from "./running_service.ts";

async function reload(main: string): Promise<{ readonly status: number; readonly said: string }> {
  const io = recordedIo();
  const status = await runCommand(["reload", "--config", main], io);
  return { status, said: io.out + io.err };
}

Deno.test("authserver reload returns when the configuration is in use, and says which one", async () => {
  await using system = await runService();
  const main = await Deno.readTextFile(system.main);
  await system.replace(
    "conf/container.properties",
    `${main}authservice.server.HPC.description=Another text\n`,
  );
  assert.deepEqual(await reload(system.main), {
    status: 0,
    said: "The service uses the new configuration (generation 2)\n",
  });
  assert.equal((await system.ask("/rest/auth/HPC")).json().description, "Another text");
});

Deno.test("authserver reload fails with every problem of a configuration that cannot be used", async () => {
  await using system = await runService();
  const main = await Deno.readTextFile(system.main);
  await system.replace("conf/container.properties", `${main}container.prt=1\ncontainer.host=\0\n`);
  const { status, said } = await reload(system.main);
  assert.equal(status, 1);
  assert.match(said, /^authserver reload: The previous configuration stays in use$/m);
  assert.match(said, /container\.properties:\d+: container\.prt/);
  assert.equal((await system.ask("/rest/auth")).status, 200);
});

Deno.test("authserver reload refuses to send secrets unencrypted, unless that is said beside the address", async () => {
  await using system = await runService();
  const main = await Deno.readTextFile(system.main);
  const prefix = "container.security.rest.authentication";
  const text = `${main.replace(/^(\S+authentication\.order=.*)$/m, "$1 OAUTH")}` +
    `${prefix}.OAUTH.address=http://idp.invalid/userinfo\n${prefix}.OAUTH.identityAssign="UID=" + email\n`;
  await system.replace("conf/container.properties", text);
  const refused = await reload(system.main);
  assert.equal(refused.status, 1);
  assert.match(refused.said, /OAUTH\.address.*: expected https:\/\/, or \S+OAUTH\.allowPlainHttp=true/);
  await system.replace("conf/container.properties", `${text}${prefix}.OAUTH.allowPlainHttp=true\n`);
  assert.deepEqual(await reload(system.main), {
    status: 0,
    said: "The service uses the new configuration (generation 2)\n",
  });
});

Deno.test("authserver reload finds a service whose control socket is about to move", async () => {
  await using system = await runService({
    properties: { "container.runtimeConfigurationUpdate": "false" },
  });
  const main = await Deno.readTextFile(system.main);
  await system.replace(
    "conf/container.properties",
    `${main}container.control.socket=${system.folder}/other.sock\n`,
  );
  const { status, said } = await reload(system.main);
  assert.equal(status, 0, said);
  assert.equal((await Deno.stat(`${system.folder}/other.sock`)).isSocket, true);
});

Deno.test("authserver reload of a service that does not run fails", async () => {
  await using system = await runService();
  system.service.stop();
  await system.service.stopped;
  const { status, said } = await reload(system.main);
  assert.equal(status, 1);
  assert.match(said, /no service listens at/);
});
