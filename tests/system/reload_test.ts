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

/** Service that only a command or a signal reloads; the last test ends it. */
const system = await runService({ properties: { "container.runtimeConfigurationUpdate": "false" } });
Deno.test.afterAll(() => system[Symbol.asyncDispose]());
const main = await Deno.readTextFile(system.main);
const generation = async () => Number((await system.ask("/health/ready")).json().generation);
const replace = (text: string) => system.replace("conf/container.properties", text);

Deno.test("authserver reload returns when the configuration is in use, and prints its generation", async () => {
  const before = await generation();
  await replace(`${main}authservice.server.HPC.description=Another text\n`);
  assert.deepEqual(await reload(system.main), {
    status: 0,
    said: `The service uses the new configuration (generation ${before + 1})\n`,
  });
  assert.equal((await system.ask("/rest/auth/HPC")).json().description, "Another text");
});

Deno.test("authserver reload fails with all problems of an unusable configuration", async () => {
  await replace(`${main}container.prt=1\ncontainer.host=\0\n`);
  const { status, said } = await reload(system.main);
  assert.equal(status, 1);
  assert.match(said, /^authserver reload: The previous configuration stays in use$/m);
  assert.match(said, /container\.properties:\d+: container\.prt/);
  assert.equal((await system.ask("/rest/auth")).status, 200);
});

Deno.test("authserver reload refuses to send secrets unencrypted, unless allowPlainHttp permits it", async () => {
  const prefix = "container.security.rest.authentication";
  const text = `${main.replace(/^(\S+authentication\.order=.*)$/m, "$1 OAUTH")}` +
    `${prefix}.OAUTH.address=http://idp.invalid/userinfo\n${prefix}.OAUTH.identityAssign="UID=" + email\n`;
  await replace(text);
  const before = await generation();
  const refused = await reload(system.main);
  assert.equal(refused.status, 1);
  assert.match(refused.said, /OAUTH\.address.*: expected https:\/\/, or \S+OAUTH\.allowPlainHttp=true/);
  await replace(`${text}${prefix}.OAUTH.allowPlainHttp=true\n`);
  assert.deepEqual(await reload(system.main), {
    status: 0,
    said: `The service uses the new configuration (generation ${before + 1})\n`,
  });
});

Deno.test("a reload does not wait for a pipe in place of the configuration", async () => {
  await Deno.remove(system.main);
  await new Deno.Command("mkfifo", { args: [system.main] }).output();
  const before = system.log.length;
  system.service.hangUp();
  await system.logged(/the new configuration cannot be used, the one before stays/, before);
  const after = system.log.length;
  await Deno.remove(system.main);
  await replace(main);
  system.service.hangUp();
  await system.logged(/configuration reloaded/, after);
});

Deno.test("authserver reload finds a service whose control socket is about to move", async () => {
  await replace(`${main}container.control.socket=${system.folder}/other.sock\n`);
  const { status, said } = await reload(system.main);
  assert.equal(status, 0, said);
  assert.equal((await Deno.stat(`${system.folder}/other.sock`)).isSocket, true);
});

Deno.test("authserver reload fails if the service does not run", async () => {
  system.service.stop();
  await system.service.stopped;
  const { status, said } = await reload(system.main);
  assert.equal(status, 1);
  assert.match(said, /no service listens at/);
});
