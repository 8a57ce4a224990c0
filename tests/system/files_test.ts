/**
 * Certificates and data files that change while the service runs (design note 6): used once they are complete,
 * or not at all.
 */
import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:tls";
import { runCommand } from "../../src/command/run_command.ts";
import { recordedIo } from "../command/recorded_io.ts";
import { ALICE, ALICE_DN, MAP, passwordLine, PASSWORDS, runService, settled } from "./running_service.ts";

const BOB = ["bob", "builder-99"] as const;
const BOB_DN = "CN=Bob,O=Demo,C=EU";

const system = await runService({
  passwords: PASSWORDS + passwordLine(BOB, BOB_DN),
  servers: { HPC: [{ acl: "CN=AUTH\nCN=RENEWED\n" }] },
});
Deno.test.afterAll(() => system[Symbol.asyncDispose]());

/** Makes a change and waits for its log line; `watch/watched_file_test.ts` tests how soon it comes. */
async function noticed(change: () => Promise<void>, line: RegExp): Promise<void> {
  const before = system.log.length;
  await change();
  await system.logged(line, before);
}

/** Runs `authserver status`. */
async function status(...options: readonly string[]) {
  const io = recordedIo();
  const code = await runCommand(["status", ...options, "--config", system.main], io);
  return { code, out: io.out };
}

const statusOf = async (as: readonly [string, string]) => (await system.ask("/rest/auth", { as })).status;

const NAMES = ["localhost", "127.0.0.1"];

/** Returns the common name of the certificate that the service shows to a new connection. */
async function shownName(): Promise<string> {
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
  await settled(system);
  assert.equal(await shownName(), "AUTH");
  const renewed = system.authority.issue({ subject: "CN=RENEWED,O=Demo,C=EU", names: NAMES });
  let lines = system.log.length;
  await system.replace("conf/auth-key.pem", renewed.key);
  await system.replace("conf/auth-cert.pem", renewed.certificate);
  await system.logged(/certificates renewed/, lines);
  // A message brings the new certificate to the edge; handshakes before that still show the old one.
  for (let early = 0; await shownName() !== "RENEWED"; early++) assert(early < 200, "not shown");
  const session = await system.ask("/rest/auth/HPC", { as: ALICE, body: { serverPath: "" } });
  assert.equal(session.status, 200);
  const server: unknown = (await system.ask("/rest/auth", { as: ALICE })).json().server;
  assert.match(JSON.stringify(server), /"dn":"CN=RENEWED,O=Demo,C=EU"/);

  lines = system.log.length;
  await system.replace("conf/auth-cert.pem", "-----BEGIN CERTIFICATE-----\nbroken\n");
  await system.logged(/new certificates cannot be used, the ones before stay/, lines);
  assert.match(await system.logged(/ error configuration diagnostic=/, lines), /auth-cert\.pem/);
  assert.equal(await shownName(), "RENEWED");
  const { code, out } = await status("--nagios");
  assert.match(
    `${code} ${out}`,
    /^1 AUTHSERVER WARNING - a file on disk is not in use: .*auth-cert\.pem/,
  );

  lines = system.log.length;
  const other = system.authority.issue({ subject: "CN=OTHER", names: NAMES });
  await system.replace("conf/auth-cert.pem", other.certificate); // without its key
  await system.logged(/new certificates cannot be used, the ones before stay/, lines);
  assert.equal(await shownName(), "RENEWED");

  lines = system.log.length;
  await system.replace("conf/auth-cert.pem", renewed.certificate);
  await system.logged(/certificates renewed/, lines);
  assert.equal((await status("--nagios")).code, 0);
});

Deno.test("a user removed from the password file can no longer log in, and others still can", async () => {
  assert.deepEqual([await statusOf(ALICE), await statusOf(BOB)], [200, 200]);
  await noticed(() => system.replace("conf/users.txt", PASSWORDS), /file read again.*users\.txt/);
  assert.deepEqual([await statusOf(ALICE), await statusOf(BOB)], [200, 401]);

  await noticed(
    () => Deno.writeTextFile(`${system.folder}/conf/users.txt`, passwordLine(BOB, BOB_DN), { append: true }),
    /file read again.*users\.txt/,
  );
  assert.equal(await statusOf(BOB), 200, "written in place");

  await noticed(
    () => Deno.writeFile(`${system.folder}/conf/users.txt`, new Uint8Array([0xff, 0xfe, 0x00])),
    /file not usable, the last good content stays.*users\.txt/,
  );
  assert.deepEqual([await statusOf(ALICE), await statusOf(BOB)], [200, 200]);
  const { code, out } = await status();
  assert.deepEqual(
    [code, /Problems:\n {2}a file on disk is not in use: \S+users\.txt.* UTF-8/.test(out)],
    [
      1,
      true,
    ],
    out,
  );
  await noticed(() => system.replace("conf/users.txt", PASSWORDS), /file read again.*users\.txt/);
  assert.equal((await status()).code, 0);
});

Deno.test("a broken map file changes nothing and is reported with its line; a valid one is loaded", async () => {
  const account = async () => (await system.ask("/rest/auth/HPC", { as: ALICE })).json().uid;
  assert.equal(await account(), "alice");
  await noticed(
    () => system.replace("conf/mapfile.json", '{\n  "CN=Alice,O=Demo,C=EU": {"role": "user",\n'),
    /file not usable, the last good content stays.*mapfile\.json:3/,
  );
  assert.equal(await account(), "alice");
  await noticed(
    () =>
      system.replace(
        "conf/mapfile.json",
        JSON.stringify({ ...MAP, [ALICE_DN]: { role: "user", xlogin: "alice2" } }),
      ),
    /file read again.*mapfile\.json/,
  );
  assert.equal(await account(), "alice2");
});

Deno.test("a file behind symbolic links is reloaded when a link is switched", async () => {
  const version = (user: typeof ALICE | typeof BOB, dn: string) => passwordLine(user, dn);
  const { folder } = system;
  // As in a container's mounted volume: the file is a link into a folder that is itself a link.
  const publish = async (name: string, text: string) => {
    await Deno.mkdir(`${folder}/${name}`);
    await Deno.writeTextFile(`${folder}/${name}/users.txt`, text);
    await Deno.symlink(`${folder}/${name}`, `${folder}/new`);
    await Deno.rename(`${folder}/new`, `${folder}/data`);
  };
  await publish("v1", PASSWORDS + "# the same users\n");
  await Deno.symlink(`${folder}/data/users.txt`, `${folder}/link`);
  await noticed(
    () => Deno.rename(`${folder}/link`, `${folder}/conf/users.txt`),
    /file read again.*users\.txt/,
  );
  assert.equal(await statusOf(ALICE), 200);
  await noticed(() => publish("v2", version(BOB, BOB_DN)), /file read again.*users\.txt/);
  assert.deepEqual([await statusOf(ALICE), await statusOf(BOB)], [401, 200]);
});

Deno.test("the service uses a renewed certificate even if another file or the configuration on disk is unusable", async () => {
  const lines = system.log.length;
  const main = await Deno.readTextFile(system.main);
  await system.replace("conf/container.properties", `${main}container.port=many\n`);
  await Deno.remove(`${system.folder}/conf/users.txt`);
  const renewed = system.authority.issue({ subject: "CN=RENEWED AGAIN", names: NAMES });
  await system.replace("conf/auth-key.pem", renewed.key);
  await system.replace("conf/auth-cert.pem", renewed.certificate);
  await system.logged(/certificates renewed|ones before stay/, lines);
  for (let early = 0; await shownName() !== "RENEWED AGAIN"; early++) assert(early < 200, "not shown");
});
