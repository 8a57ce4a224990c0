/** `authserver` as a process: start, signals, exit status. */
import { until } from "../fixtures/deadline.ts";
import assert from "node:assert/strict";
import { allCommands, runCommand } from "../../src/command/run_command.ts";
import { VERSION } from "../../src/service/version.ts";
import { recordedIo } from "../command/recorded_io.ts";
import { ask } from "./ask.ts";
import { ALICE, createSite } from "./running_service.ts";
import { runAuthserver } from "./service_process.ts";

const COMMANDS = await allCommands();

Deno.test("SIGTERM lets a request in progress finish, and ends with status 0; SIGHUP reloads the configuration", async () => {
  await using site = await createSite();
  const service = runAuthserver(["serve", "--config", site.main, "--name", "AUTH-TEST"]);
  await service.prints(/Reading config/);
  service.kill("SIGHUP"); // too early to have an effect, and must not end the service
  const [, port] = await service.prints(/service started .*port=(\d+)/);
  await service.prints(/\*\*\*\*\* Server started\. \*\*\*\*\*\nSend TERM signal to shutdown gracefully\./);
  assert.match(service.printed, /^Reading config from .*container\.properties$/m);
  assert.match(service.printed, new RegExp(`^AUTH-TEST ${VERSION}$`, "m"));

  service.kill("SIGHUP");
  await service.prints(/configuration reloaded generation=2/);

  const post = { as: ALICE, body: { serverPath: "" } };
  const url = `https://localhost:${port}/rest/auth/HPC`;
  const daemon = site.daemon();
  daemon.delay = 500;
  const sessions = () => daemon.sessionRequests.length;
  const underWay = ask(url, site.authority.certificate, post);
  await until(() => sessions() !== 0, { everyMs: 5 });
  service.kill("SIGTERM");
  await service.prints(/shutting down/);
  service.kill("SIGTERM"); // a second signal interrupts nothing
  assert.equal((await underWay).status, 200);
  assert.equal(await service.ended, 0);
  await assert.rejects(ask(url, site.authority.certificate, post), /ECONNREFUSED/);
  const file = await Deno.readTextFile(`${site.folder}/logs/authserver.log`);
  assert.match(file, /audit session.*decision=granted/);
  assert.match(file, / stopped\n$/);
  assert.doesNotMatch(file, /draining/, "nobody asked for that");
});

Deno.test("a port in use causes a clear message and status 1", async () => {
  using taken = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  await using site = await createSite({ properties: { "container.port": String(taken.addr.port) } });
  const service = runAuthserver(["--config", site.main]);
  assert.equal(await service.ended, 1);
  assert.match(
    service.printed,
    new RegExp(
      `^authserver serve: port ${taken.addr.port} on 127\\.0\\.0\\.1 is taken by another process$`,
      "m",
    ),
  );
  assert.doesNotMatch(service.printed, /\n {4}at /, "no stack");
});

Deno.test("a bad configuration is reported completely, with file and line, and status 78", async () => {
  await using site = await createSite();
  const main = await Deno.readTextFile(site.main);
  const line = main.split("\n").length;
  await site.replace(
    "conf/container.properties",
    `${main}container.prt=9000\nauthservice.server.HPC.ssl=maybe\ncontainer.externalurl=ftp://x\n`,
  );
  await site.replace("conf/auth-key.pem", "no key\n");
  const service = runAuthserver(["serve", "--config", site.main]);
  assert.equal(await service.ended, 78);
  for (
    const expected of [
      `conf/container.properties:${line}: container.prt`,
      `conf/container.properties:${line + 1}: authservice.server.HPC.ssl = maybe`,
      `conf/container.properties:${line + 2}: container.externalurl = ftp://x`,
      "The configuration in",
    ]
  ) assert(service.printed.includes(expected), `${expected} in\n${service.printed}`);
  assert.doesNotMatch(service.printed, /\n {4}at /, "no stack");
});

Deno.test("a missing configuration causes a clear message and status 78", async () => {
  const io = recordedIo();
  assert.equal(await runCommand(["serve", "--config", "/nowhere/container.properties"], io), 78);
  assert.match(io.err, /\/nowhere\/container\.properties/);
});

const WRONG: readonly (readonly string[])[] = [
  ["--port", "1"],
  ["serve", "--bogus"],
  ["serve", "operand"],
  ["serve", "--config"],
  ["serve", "--config", "a", "--config", "b"],
  ["check", "--bogus"],
  ["check", "x"],
  ["version", "x"],
  ["passwd"],
  ["passwd", "bogus"],
  ["passwd", "add"],
  ["bogus"],
  ["Serve"],
  [""],
];
for (const args of WRONG) {
  Deno.test(`authserver ${args.join(" ")} is a usage error, status 2`, async () => {
    const io = recordedIo();
    assert.equal(await runCommand(args, io), 2);
    assert.equal(io.out, "");
    assert.match(io.err, /^authserver/);
    assert.match(io.err, /--help/);
  });
}

for (const words of [[], ...COMMANDS.map(({ spec }) => [spec.name]), ["passwd", "add"]]) {
  Deno.test(`authserver ${[...words, "--help"].join(" ")} prints help, status 0`, async () => {
    const io = recordedIo();
    assert.equal(await runCommand([...words, "--help"], io), 0);
    assert.match(io.out, /^Usage: authserver/);
    assert.equal(io.err, "");
  });
}

Deno.test("authserver version prints the version", async () => {
  const io = recordedIo();
  assert.equal(await runCommand(["version"], io), 0);
  assert.match(io.out, new RegExp(`^authserver ${VERSION} \\(Deno 2\\.`));
});
