/** A disk that is full, or read-only, under the log and the audit stream, the shares and the password file. */
import { inTime, until } from "../fixtures/deadline.ts";
import assert from "node:assert/strict";
import { passwd } from "../../src/command/files/passwd.ts";
import { runCommand } from "../../src/command/run_command.ts";
import { recordedIo } from "../command/recorded_io.ts";
import {
  ALICE,
  createSite,
  PASSWORDS,
  runService,
  type Setting,
  settled,
  STRANGER,
  type SystemUnderTest,
} from "../system/running_service.ts";
import { runAuthserver } from "../system/service_process.ts";
import { note } from "./fault_table.ts";
import { mountSmallDisk, type SmallDisk } from "./small_disk.ts";

/** Account of every Linux system. */
const NOBODY = 65_534;

const PROBE = await mountSmallDisk(64);
await PROBE?.[Symbol.asyncDispose]();
/** Whether to skip these tests, which mount a file system and need root. */
const ignore = PROBE === undefined;
if (ignore) {
  console.log("disk faults are not tried: a small file system cannot be mounted here, which needs root");
}

const SERVERS = { HPC: [{ maxSessions: 1000 }] };
const POST = { as: ALICE, body: { serverPath: "" } };

const logOn = ({ path }: SmallDisk): Setting => ({
  servers: SERVERS,
  properties: {
    "container.logging.file": `${path}/logs/authserver.log`,
    "container.control.socket": "{folder}/control", // a full disk has no space for a socket
  },
});

const sharesOn = ({ path }: SmallDisk): Setting => ({
  servers: SERVERS,
  properties: { "share.servers": "HPC", "persistence.directory": `${path}/shares` },
});

function testDisk(name: string, test: (disk: SmallDisk) => Promise<void>): void {
  Deno.test({
    name,
    ignore,
    async fn() {
      await using disk = await mountSmallDisk(1024);
      assert(disk !== undefined);
      await test(disk);
    },
  });
}

/** Returns the sinks that `status` reports as failing; asserts that the plugin reports them, too. */
async function failingSinks({ main }: SystemUnderTest): Promise<string[]> {
  const io = recordedIo();
  await runCommand(["status", "--json", "--config", main], io);
  const { sinks } = JSON.parse(io.out);
  const failing: string[] = sinks.flatMap((sink: { readonly name: string; readonly state: string }) =>
    sink.state === "failing" ? [sink.name] : []
  );
  const plugin = recordedIo();
  const code = await runCommand(["status", "--nagios", "--config", main], plugin);
  assert.equal(code > 0, failing.length > 0, plugin.out);
  for (const name of failing) assert.match(plugin.out, new RegExp(`\\b${name} cannot be written`));
  return failing;
}

/** Sends requests until the log file has a line of one of them. */
async function logsAgain(system: SystemUnderTest, disk: SmallDisk): Promise<void> {
  for (;;) {
    const reply = await system.ask("/rest/auth", { as: ALICE });
    await system.logged(new RegExp(`request=${reply.headers["x-request-id"]}`));
    const text = await Deno.readTextFile(`${disk.path}/logs/authserver.log`).catch(() => "");
    if (text.includes(String(reply.headers["x-request-id"]))) break;
  }
  const session = await system.ask("/rest/auth/HPC", POST);
  const id = String(session.headers["x-request-id"]);
  const audit = () => Deno.readTextFile(`${disk.path}/logs/audit.log`).catch(() => "");
  await until(async () => (await audit()).includes(id), { everyMs: 20 });
}

testDisk(
  "with the log on a full disk the service serves, and logs again when there is space",
  async (disk) => {
    await using system = await runService(logOn(disk));
    await settled(system);
    await disk.fill();
    for (let i = 0; i < 20; i++) assert.equal((await system.ask("/rest/auth/HPC", POST)).status, 200);
    assert.match(await system.logged(/log file not written/), /error/);
    assert.equal(system.log.filter((line) => line.includes("log file not written")).length, 1, "told once");
    assert.match(await system.logged(/audit lines not written/), /error/);
    assert.deepEqual(await failingSinks(system), ["audit", "log"]);
    await disk.empty();
    await logsAgain(system, disk);
    assert.deepEqual(await failingSinks(system), []);
    await system.logged(/log file written again lost=\d/);
    await system.logged(/audit lines written again lost=0/);
    note({
      section: "Disks",
      fault: "the disk of log and audit file is full",
      caller: "nothing: 200",
      log: "the console has every line, and once `log file not written` with the cause",
      after: "the file is written again as soon as there is space",
    });
  },
);

testDisk(
  "with required audit lines on a full disk, requests that need one have no effect until there is space",
  async (disk) => {
    const { servers, properties } = logOn(disk);
    const required = { ...properties, "container.audit.required": "true" };
    await using system = await runService({ servers, properties: required });
    await settled(system);
    await disk.fill();
    // Requests take effect until the first line does not fit; that line waits in memory.
    let reply = await system.ask("/rest/auth/HPC", POST);
    for (let i = 0; reply.status === 200 && i < 500; i++) reply = await system.ask("/rest/auth/HPC", POST);
    assert.deepEqual([reply.status, reply.json()["code"]], [503, "ERR_AUDIT_UNAVAILABLE"]);
    const daemon = system.daemon();
    const before = daemon.sessionRequests.length;
    for (let i = 0; i < 20; i++) assert.equal((await system.ask("/rest/auth/HPC", POST)).status, 503);
    assert.deepEqual(daemon.sessionRequests.slice(before), [], "no session is opened");
    assert.equal((await system.ask("/rest/auth", { as: ALICE })).status, 200);
    await disk.empty();
    await until(async () => (await system.ask("/rest/auth/HPC", POST)).status === 200);
    note({
      section: "Disks",
      fault: "the disk of required audit lines is full",
      caller: "503 `ERR_AUDIT_UNAVAILABLE` for requests that need an audit line; they have no effect",
      log:
        "once error `audit lines not written` with the cause; error `request answered` for each such request",
      after: "requests succeed within 5 s after there is space; pending lines are written",
    });
  },
);

testDisk(
  "with the log on a read-only disk the service starts and serves, and logs when it can",
  async (disk) => {
    await disk.readOnly(true);
    await using system = await runService(logOn(disk));
    await settled(system);
    assert.equal((await system.ask("/rest/auth/HPC", POST)).status, 200);
    await system.logged(/log file not written/);
    await disk.readOnly(false);
    await logsAgain(system, disk);
    note({
      section: "Disks",
      fault: "the disk of log and audit file is read-only",
      caller: "nothing: 200",
      log: "the console has every line, and once `log file not written` with the cause",
      after: "the file is created as soon as the disk is writable",
    });
  },
);

testDisk(
  "with the shares on a full disk no acknowledged share is lost, and no refused one is stored",
  async (disk) => {
    await using system = await runService(sharesOn(disk));
    await settled(system);
    const user = "CN=ANONYMOUS,O=UNKNOWN,OU=UNKNOWN";
    const share = async (name: string) => {
      await Deno.writeTextFile(`${system.folder}/${name}`, "");
      return await system.ask("/rest/share/HPC", {
        as: ALICE,
        body: { path: `${system.folder}/${name}`, user, access: "READ" },
      });
    };
    assert.equal((await share("before")).status, 201);
    await disk.fill();
    const made: string[] = ["before"];
    let refused = await share("during0");
    // The write-ahead log may have room for some more shares, which are then valid.
    for (let i = 1; refused.status === 201 && i < 500; i++) {
      made.push(`during${i - 1}`);
      refused = await share(`during${i}`);
    }
    assert.equal(refused.status, 503, refused.text);
    assert(!/sqlite|disk|full|\//i.test(String(refused.json().errorMessage)), refused.text);
    assert.equal((await system.ask("/rest/auth/HPC", POST)).status, 200);
    assert.equal((await system.ask("/rest/share/HPC", { as: ALICE })).status, 200, "reading goes on");
    const line = await system.logged(new RegExp(`request answered.*request=${refused.json().requestId}`));
    assert.match(line, / error .*full/);
    assert.ok((await failingSinks(system)).includes("shares"));
    await disk.empty();
    assert.deepEqual(await failingSinks(system), [], "without a new share");
    assert.equal((await share("after")).status, 201);
    const told = system.log.filter((line) => line.includes("share database not written"));
    assert.ok(told.length === 1 && / error .*shares\.sqlite/.test(told[0] ?? ""), told.join("\n"));
    await system.logged(/share database written again/);
    const list = await system.ask("/rest/share/HPC", { as: ALICE });
    const paths = [...list.text.matchAll(/"path":\s*"([^"]*)"/g)].map(([, path]) => path?.split("/").at(-1));
    assert.deepEqual(paths.toSorted(), [...made, "after"].sort());
    note({
      section: "Disks",
      fault: "the disk of the shares is full",
      caller: `${refused.status} \`${refused.json().code}\` for creating shares; lists and sessions work`,
      log:
        "error `share database not written` once, and error `request answered`, with `database or disk is full`",
      after: "no acknowledged share is lost, no refused share exists; recovers without a restart",
    });
    await Deno.rename(`${disk.path}/shares`, `${disk.path}/moved`);
    const gone = await share("gone");
    assert.deepEqual([gone.status, gone.json()["code"]], [503, "ERR_SHARE_STORE"]);
    assert.deepEqual(await failingSinks(system), ["shares"]);
    await Deno.rename(`${disk.path}/moved`, `${disk.path}/shares`);
    assert.deepEqual(await failingSinks(system), []);
    assert.equal((await share("back")).status, 201);
    note({
      section: "Disks",
      fault: "the folder of the shares is moved or deleted while the service runs",
      caller: `${gone.status} \`${gone.json().code}\` for creating shares; lists and sessions work`,
      log: "error `share database not written` once, with `moved, deleted or replaced`",
      after: "recovers when the folder is back; a reload uses what is in its place",
    });
  },
);

testDisk(
  "with the token registry on a full disk, tokens stay valid, and none is issued or half revoked",
  async (disk) => {
    await using system = await runService(sharesOn(disk));
    await settled(system);
    const get = () =>
      system.ask("/rest/auth/token", { as: ALICE, headers: { Accept: "text/plain, application/json" } });
    const shown = async (token: string) =>
      (await system.ask("/rest/auth/tokens", { headers: { Authorization: `Bearer ${token}` } })).status;
    const before = (await get()).text;
    assert.equal(await shown(before), 200);
    await disk.fill();
    let refused = await get();
    for (let i = 1; refused.status === 200 && i < 500; i++) refused = await get();
    assert.deepEqual([refused.status, refused.json()["code"]], [503, "ERR_RECORD_STORE"]);
    const id = String(refused.headers["x-request-id"]);
    assert.match(await system.logged(new RegExp(`request answered.*request=${id}`)), / error /);
    assert.ok((await failingSinks(system)).includes("records"));
    assert.equal(await shown(before), 200);
    const revoke = () => system.ask("/rest/auth/tokens", { method: "DELETE", as: ALICE });
    const failed = await revoke();
    assert.equal(failed.status, 503, failed.text);
    assert.equal(await shown(before), 200, "who was told that it is not done was told the truth");
    await disk.empty();
    assert.equal((await revoke()).status, 200);
    assert.equal(await shown(before), 401);
    assert.equal((await get()).status, 200);
    note({
      section: "Disks",
      fault: "the disk of the token registry is full",
      caller:
        `${refused.status} \`ERR_RECORD_STORE\` for issuing and revoking tokens; existing tokens stay valid`,
      log:
        "error `record database not written` once, and error `request answered`, with `database or disk is full`",
      after: "no revocation is partial; recovers without a restart",
    });
  },
);

testDisk("with the shares on a read-only disk the service does not start, and says why", async (disk) => {
  await disk.readOnly(true);
  const told = /persistence\.directory: (\S+\/shares cannot be made: )?the disk of \S+ is read-only/;
  await assert.rejects(runService(sharesOn(disk)), (error) => {
    const text = Deno.inspect(error);
    assert.match(text, told);
    assert.match(text, /fix: mount -o remount,rw /);
    return true;
  });
  // `check` by root finds the fault, though the permissions of the account would suffice.
  await using site = await createSite(sharesOn(disk));
  await disk.readOnly(false);
  await Deno.chown(disk.path, NOBODY, NOBODY);
  await disk.readOnly(true);
  for (
    const path of [
      "",
      "/conf",
      ...Array.from(Deno.readDirSync(`${site.folder}/conf`), ({ name }) => `/conf/${name}`),
    ]
  ) {
    await Deno.chown(site.folder + path, NOBODY, NOBODY);
  }
  const io = recordedIo();
  assert.equal(await runCommand(["check", "--config", site.main], io), 1);
  assert.match(io.err, told);
  assert.match(io.out, /Checked as the service account nobody/);
  note({
    section: "Disks",
    fault: "the disk of the shares is read-only at the start",
    caller: "—",
    log: "the start fails and names the folder and the cause",
    after: "—",
  });
});

testDisk(
  "with the shares on a full disk the service does not start, and names the file or the folder",
  async (disk) => {
    await (await runService(sharesOn(disk)))[Symbol.asyncDispose]();
    await disk.fill();
    await using site = await createSite(sharesOn(disk));
    const child = runAuthserver(["serve", "--config", site.main], { cwd: site.folder });
    assert.equal(await inTime(child.ended, "the service ends"), 1, "so that systemd starts it again");
    assert.match(child.printed, /\/(shares|records)\.sqlite: .*(full|disk I\/O)|the disk of \S+ is full/);
  },
);

const NEW_USER = ["newcomer", "fresh-5813-pick"] as const;

const usersOn = ({ path }: SmallDisk): Setting => ({
  servers: SERVERS,
  properties: { "container.security.rest.authentication.PASSWORD.file": `${path}/users.txt` },
});

/** Runs `authserver passwd add` for the new user. */
async function addUser({ path }: SmallDisk): Promise<{ status: number; err: string }> {
  const [name, password] = NEW_USER;
  const io = recordedIo({ input: password });
  const file = `${path}/users.txt`;
  const status = await passwd.run(["add", name, "--dn", "CN=Newcomer", "--stdin", "--file", file], io);
  return { status, err: io.err };
}

for (
  const [what, cause, fail, mend] of [
    [
      "full",
      /users\.txt: no space left on the disk/,
      (disk: SmallDisk) => disk.fill(),
      (disk: SmallDisk) => disk.empty(),
    ],
    [
      "read-only",
      /users\.txt\.lock: the disk is read-only/,
      (disk: SmallDisk) => disk.readOnly(true),
      (disk: SmallDisk) => disk.readOnly(false),
    ],
  ] as const
) {
  testDisk(
    `with the password file on a ${what} disk everybody in it gets in, and no user is half added`,
    async (disk) => {
      const file = `${disk.path}/users.txt`;
      await Deno.writeTextFile(file, PASSWORDS, { mode: 0o600 });
      await using system = await runService(usersOn(disk));
      await settled(system);
      await fail(disk);
      const added = await addUser(disk);
      assert.equal(added.status, 1);
      assert.match(added.err, cause);
      assert.equal(await Deno.readTextFile(file), PASSWORDS);
      assert.equal((await system.ask("/rest/auth/HPC", POST)).status, 200);
      assert.equal((await system.ask("/rest/auth", { as: NEW_USER })).status, 401);
      await mend(disk);
      const before = system.log.length;
      assert.deepEqual(await addUser(disk), { status: 0, err: "" });
      await system.logged(/file read again/, before);
      assert.equal((await system.ask("/rest/auth", { as: NEW_USER })).status, 200);
      note({
        section: "Disks",
        fault: `the disk of the password file is ${what}`,
        caller: "nothing: all users of the file can log in",
        log: "nothing; `authserver passwd` exits with 1, names the cause and leaves the file unchanged",
        after: "users can be added as soon as the disk is writable, and log in within 2 s",
      });
    },
  );
}

testDisk(
  "a password file that a full disk truncates is reported, and its last good content stays in use",
  async (disk) => {
    const file = `${disk.path}/users.txt`;
    await Deno.writeTextFile(file, PASSWORDS, { mode: 0o600 });
    await using system = await runService(usersOn(disk));
    await settled(system);
    const [alice = "", next = ""] = PASSWORDS.split(/(?<=\n)/);
    await disk.fill();
    let before = system.log.length;
    await Deno.writeTextFile(file, alice + next.slice(0, 20));
    await system.logged(/file not usable, the last good content stays.*users\.txt/, before);
    assert.equal((await system.ask("/rest/auth/HPC", POST)).status, 200);
    assert.equal((await system.ask("/rest/auth", { as: STRANGER })).status, 200);
    await disk.empty();
    before = system.log.length;
    await Deno.writeTextFile(file, PASSWORDS);
    await system.logged(/file usable again/, before);
    assert.equal((await system.ask("/rest/auth", { as: STRANGER })).status, 200);
    note({
      section: "Disks",
      fault: "the disk is full while an editor writes the password file",
      caller: "nothing: the old content stays in use",
      log: "error `file not usable, the last good content stays` with file and cause",
      after: "the new content is in use within 2 s after the file is complete",
    });
  },
);
