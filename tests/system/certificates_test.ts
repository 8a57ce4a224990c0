/** Certificates that are renewed while the service runs. */
import assert from "node:assert/strict";
import { connect } from "node:tls";
import { runCommand } from "../../src/command/run_command.ts";
import { recordedIo } from "../command/recorded_io.ts";
import { once } from "node:events";
import { ALICE, runService, settled, type SystemUnderTest } from "./running_service.ts";

/** Returns the common name of the certificate that the service shows to a new connection. */
async function shownName(system: SystemUnderTest): Promise<string> {
  const socket = connect({
    host: "localhost",
    port: system.port,
    servername: "localhost",
    ca: system.authority.certificate,
  });
  await once(socket, "secureConnect");
  const { subject } = socket.getPeerCertificate();
  socket.destroy();
  return String(subject.CN);
}

Deno.test("clients and daemons see a renewed certificate from the next handshake on, and never a broken one", async () => {
  await using system = await runService({ servers: { HPC: [{ acl: "CN=AUTH\nCN=RENEWED\n" }] } });
  await settled(system);
  assert.equal(await shownName(system), "AUTH");
  const names = ["localhost", "127.0.0.1"];
  const renewed = system.authority.issue({ subject: "CN=RENEWED,O=Demo,C=EU", names });
  let lines = system.log.length;
  await system.replace("conf/auth-key.pem", renewed.key);
  await system.replace("conf/auth-cert.pem", renewed.certificate);
  await system.logged(/certificates renewed/, lines);
  // A message brings the new certificate to the edge; handshakes before that still show the old one.
  for (let early = 0; await shownName(system) !== "RENEWED"; early++) assert(early < 200, "not shown");
  const session = await system.ask("/rest/auth/HPC", { as: ALICE, body: { serverPath: "" } });
  assert.equal(session.status, 200);
  const server: unknown = (await system.ask("/rest/auth", { as: ALICE })).json().server;
  assert.match(JSON.stringify(server), /"dn":"CN=RENEWED,O=Demo,C=EU"/);

  lines = system.log.length;
  await system.replace("conf/auth-cert.pem", "-----BEGIN CERTIFICATE-----\nbroken\n");
  await system.logged(/new certificates cannot be used, the ones before stay/, lines);
  assert.match(await system.logged(/ error configuration diagnostic=/, lines), /auth-cert\.pem/);
  assert.equal(await shownName(system), "RENEWED");
  const status = async () => {
    const io = recordedIo();
    return [await runCommand(["status", "--nagios", "--config", system.main], io), io.out];
  };
  const [code, said] = await status();
  assert.match(
    `${code} ${said}`,
    /^1 AUTHSERVER WARNING - a file on disk is not in use: .*auth-cert\.pem/,
  );

  lines = system.log.length;
  const other = system.authority.issue({ subject: "CN=OTHER", names });
  await system.replace("conf/auth-cert.pem", other.certificate); // without its key
  await system.logged(/new certificates cannot be used, the ones before stay/, lines);
  assert.equal(await shownName(system), "RENEWED");

  lines = system.log.length;
  await system.replace("conf/auth-cert.pem", renewed.certificate);
  await system.logged(/certificates renewed/, lines);
  assert.equal((await status())[0], 0);
});

Deno.test("the service uses a renewed certificate even if another file or the configuration on disk is unusable", async () => {
  await using system = await runService({ properties: { "container.runtimeConfigurationUpdate": "false" } });
  const main = await Deno.readTextFile(system.main);
  await system.replace("conf/container.properties", `${main}container.port=many\n`);
  await Deno.remove(`${system.folder}/conf/users.txt`);
  const renewed = system.authority.issue({ subject: "CN=RENEWED", names: ["localhost", "127.0.0.1"] });
  await system.replace("conf/auth-key.pem", renewed.key);
  await system.replace("conf/auth-cert.pem", renewed.certificate);
  await system.logged(/certificates renewed|ones before stay/);
  for (let early = 0; await shownName(system) !== "RENEWED"; early++) assert(early < 200, "not shown");
});
