/** `authserver backup` of a running service, and `authserver restore`. */
import assert from "node:assert/strict";
import { runCommand } from "../../src/command/run_command.ts";
import { SYSTEM_PATHS } from "../../src/command/diagnosis/service_account.ts";
import { MANIFEST, ownedHere, readManifest } from "../../src/command/files/backup.ts";
import { recordedIo } from "../command/recorded_io.ts";
import {
  ALICE,
  ALICE_DN,
  createSite,
  runAt,
  settled,
  type Site,
  STRANGER,
  type SystemUnderTest,
} from "./running_service.ts";
import { runAuthserver } from "./service_process.ts";
import { versionBefore } from "./service_version.ts";
import { POSTGRES, TestPostgres } from "../fixtures/postgres.ts";
import { ask } from "./ask.ts";
import { databaseProperties } from "./several_instances.ts";

const SETTING = {
  servers: { HPC: [{ maxSessions: 1000 }] },
  properties: {
    "share.servers": "HPC",
    "persistence.directory": "{folder}/data",
    "container.control.socket": "{folder}/control",
  },
  map: JSON.stringify({
    [ALICE_DN]: { role: "user", xlogin: "alice", group: ["hpc", "users"] },
    "CN=Stranger,O=Demo,C=EU": { role: "user", xlogin: "alice" },
  }),
};
const EVERYBODY = "CN=ANONYMOUS,O=UNKNOWN,OU=UNKNOWN";

async function command(...args: readonly string[]) {
  const io = recordedIo();
  const code = await runCommand(args, io);
  return { code, out: io.out, err: io.err };
}

/** Runs a command that must succeed. @returns Its output as JSON. */
async function done(...args: readonly string[]) {
  const { code, out, err } = await command(...args, "--json");
  assert.equal(code, 0, err);
  return JSON.parse(out);
}

type Asked = Pick<SystemUnderTest, "ask" | "folder">;

async function share({ ask, folder }: Asked, name: string): Promise<string> {
  await Deno.writeTextFile(`${folder}/${name}`, "");
  const body = { path: `${folder}/${name}`, user: EVERYBODY, access: "READ" };
  const reply = await ask("/rest/share/HPC", { as: ALICE, body });
  assert.equal(reply.status, 201, reply.text);
  return name;
}

async function shares({ ask }: Pick<Asked, "ask">): Promise<readonly string[]> {
  const { text } = await ask("/rest/share/HPC", { as: ALICE });
  return [...text.matchAll(/"path":\s*"[^"]*\/([^"/]*)"/g)].map(([, name = ""]) => name).toSorted();
}

/** Returns path, mode, owner and digest of each file below a folder. */
async function contents(folder: string): Promise<readonly string[]> {
  const found: string[] = [];
  for await (const { name, isDirectory } of Deno.readDir(folder)) {
    if (isDirectory) found.push(...(await contents(`${folder}/${name}`)).map((line) => `${name}/${line}`));
    else {
      const { mode, uid } = await Deno.stat(`${folder}/${name}`);
      const bytes = await Deno.readFile(`${folder}/${name}`);
      found.push(
        `${name} ${(mode ?? 0).toString(8)} ${uid} ${
          new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)).toHex()
        }`,
      );
    }
  }
  return found.toSorted();
}

type SiteWithBackup = Site & { readonly backup: string };

/** Creates a site with a share, where no service runs, and a backup of it. */
async function siteWithBackup(): Promise<SiteWithBackup> {
  const site = await createSite(SETTING);
  const one = {
    id: "f2a41c6e9b7d4a5c8e10",
    server: "HPC",
    path: "/data/one",
    ownerID: ALICE_DN,
    uid: "alice",
    targetID: EVERYBODY,
  };
  await site.replace("conf/shares.json", JSON.stringify([one]));
  await done("share", "import", `${site.folder}/conf/shares.json`, "--config", site.main);
  await done("backup", `${site.folder}/backup`, "--config", site.main);
  return { ...site, backup: `${site.folder}/backup` };
}

async function copy(from: string, to: string): Promise<void> {
  const { success, stderr } = await new Deno.Command("cp", { args: ["-a", from, to] }).output();
  assert.ok(success, new TextDecoder().decode(stderr));
}

Deno.test("backup copies a service during writes, and restore recovers its shares, tokens, bans and files", async () => {
  await using site = await createSite(SETTING);
  const backup = `${site.folder}/backup`;
  const system = await runAt(site);
  await settled(system);
  const before = await share(system, "before");
  const headers = { Accept: "text/plain, application/json" };
  const token = (await system.ask("/rest/auth/token", { as: ALICE, headers })).text;
  const shown = { headers: { Authorization: `Bearer ${token}` } };
  await done("ban", "add", "--user", "stranger", "--for", "1h", "--config", site.main);
  const acknowledged: string[] = [before];
  let copying = true;
  const writing = (async () => {
    for (let i = 0; copying; i++) acknowledged.push(await share(system, `during${i}`));
  })();
  const atBegin = acknowledged.length;
  const { files } = await done("backup", backup, "--config", site.main);
  copying = false;
  await writing;
  for (
    const name of [
      "conf/container.properties",
      "conf/auth-key.pem",
      "conf/users.txt",
      "data/shares.sqlite",
      "data/records.sqlite",
    ]
  ) {
    assert.ok(files.includes(`${site.folder}/${name}`), name);
  }
  for (const line of await contents(backup)) {
    assert.match(line, / 100600 \d+ /, "readable for its account alone");
  }
  assert.equal(((await Deno.stat(backup)).mode ?? 0) & 0o777, 0o700);
  assert.equal(
    (await command("backup", backup, "--config", site.main)).code,
    1,
    "only a new folder is written",
  );

  // Losses and damage after the backup.
  await share(system, "after");
  assert.equal((await system.ask("/rest/auth/tokens", { as: ALICE, method: "DELETE" })).status, 200);
  await done("ban", "remove", "--user", "stranger", "--config", site.main);
  const inUse = await command("restore", "--replace", backup);
  assert.deepEqual(
    [inUse.code, /A running service uses .*container\.properties/.test(inUse.err)],
    [1, true],
    inUse.err,
  );
  system.service.stop();
  await system.service.stopped;
  const refused = await command("restore", backup);
  assert.deepEqual(
    [refused.code, /Expected --replace, since these files exist/.test(refused.err)],
    [1, true],
    refused.err,
  );
  await Deno.writeTextFile(site.main, "broken");
  await Deno.remove(`${site.folder}/conf/auth-key.pem`);
  const restored = await done("restore", "--replace", backup);
  assert.equal(restored.files.length, files.length);
  assert.equal(
    await Deno.readTextFile(
      restored.files.find(({ path }: { readonly path: string }) => path === site.main).kept,
    ),
    "broken",
  );

  const again = await runAt(site);
  const found = await shares(again);
  assert.ok(found.length >= atBegin && !found.includes("after"), found.join());
  assert.deepEqual(found, acknowledged.filter((name) => found.includes(name)).toSorted());
  assert.deepEqual(
    acknowledged.slice(0, found.length).toSorted(),
    found,
    "all up to one moment, none after it",
  );
  assert.equal((await again.ask("/rest/auth", shown)).status, 200, "the token counts again");
  assert.equal((await again.ask("/rest/auth", { as: STRANGER })).status, 429, "the ban does, too");
  again.service.stop();
  await again.service.stopped;
});

const REFUSED:
  readonly (readonly [what: string, spoil: (backup: string) => Promise<unknown>, told: RegExp])[] = [
    ["without a manifest", (backup) => Deno.remove(`${backup}/${MANIFEST}`), /not the manifest of a backup/],
    [
      "with a truncated manifest",
      (backup) => Deno.truncate(`${backup}/${MANIFEST}`, 100),
      /not the manifest/,
    ],
    [
      "of a later format",
      (backup) => manifest(backup, (found) => ({ ...found, format: 2 })),
      /format 2\), which this version/,
    ],
    [
      "of a later version",
      (backup) => manifest(backup, (found) => ({ ...found, version: "1000.0.0" })),
      /version 1000\.0\.0/,
    ],
    ["without files", (backup) => manifest(backup, (found) => ({ ...found, files: [] })), /damaged/],
    [
      "with a path that contains ..",
      (backup) => manifest(backup, (found) => ({ ...found, configuration: "/etc/../etc/x" })),
      /damaged/,
    ],
    [
      "with a changed file",
      async (backup) =>
        await Deno.writeTextFile(await copyIn(backup, "users.txt"), "mallory:x:y:CN=Ann\n", { append: true }),
      /users\.txt was changed/,
    ],
    [
      "with a missing file",
      async (backup) => await Deno.remove(await copyIn(backup, "auth-key.pem")),
      /auth-key\.pem is missing/,
    ],
    [
      "with a database of a later version",
      async (backup) => {
        const { DatabaseSync } = await import("node:sqlite");
        const file = await copyIn(backup, "shares.sqlite");
        const database = new DatabaseSync(file);
        database.exec("PRAGMA user_version = 99");
        database.close();
        const { digestOf } = await import("../../src/command/files/backup.ts");
        const sha256 = await digestOf(file);
        await manifest(backup, (found) => ({
          ...found,
          files: found.files.map((one) => one.path.endsWith("shares.sqlite") ? { ...one, sha256 } : one),
        }));
      },
      /schema version 99, this service knows up to/,
    ],
  ];

interface Spoiled {
  readonly files: readonly { readonly path: string }[];
}

async function manifest(backup: string, change: (found: Spoiled) => object): Promise<void> {
  const path = `${backup}/${MANIFEST}`;
  await Deno.writeTextFile(path, JSON.stringify(change(JSON.parse(await Deno.readTextFile(path)))));
}

async function copyIn(backup: string, name: string): Promise<string> {
  const { files }: Spoiled = JSON.parse(await Deno.readTextFile(`${backup}/${MANIFEST}`));
  return `${backup}/files${files.find(({ path }) => path.endsWith(name))?.path}`;
}

/** Site for tests that leave it unchanged. */
const unchanged = await siteWithBackup();
Deno.test.afterAll(() => unchanged[Symbol.asyncDispose]());

for (const [what, spoil, told] of REFUSED) {
  Deno.test(`restore refuses a backup ${what}, and changes nothing`, async () => {
    const site = unchanged;
    const backup = `${site.folder}/${crypto.randomUUID()}`;
    await copy(site.backup, backup);
    await spoil(backup);
    const before = await contents(`${site.folder}/conf`);
    const data = await contents(`${site.folder}/data`);
    const { code, err } = await command("restore", "--replace", backup);
    assert.equal(code, 1);
    assert.match(err, told);
    assert.deepEqual(await contents(`${site.folder}/conf`), before);
    assert.deepEqual(await contents(`${site.folder}/data`), data);
  });
}

Deno.test("restore that fails halfway changes nothing", async () => {
  await using site = await siteWithBackup();
  // `restore` writes the databases last, and cannot write them below a file.
  await Deno.rename(`${site.folder}/data`, `${site.folder}/gone`);
  await Deno.writeTextFile(`${site.folder}/data`, "in the way");
  const before = await contents(`${site.folder}/conf`);
  const { code, err } = await command("restore", "--replace", site.backup);
  assert.equal(code, 1);
  assert.match(err, /Nothing is restored$/m);
  assert.deepEqual(await contents(`${site.folder}/conf`), before);
});

Deno.test("restore keeps the files from before each run, even of runs in quick succession", async () => {
  await using site = await siteWithBackup();
  const text = await Deno.readTextFile(site.main);
  await Deno.writeTextFile(site.main, `${text}# changed since the backup\n`);
  const run = () => done("restore", "--replace", site.backup);
  const kept: string[] = [];
  for (const { files } of [await run(), await run()]) {
    kept.push(
      ...files.flatMap((file: { path: string; kept: string }) => file.path === site.main ? file.kept : []),
    );
  }
  assert.deepEqual(await Promise.all(kept.map((path) => Deno.readTextFile(path))), [
    `${text}# changed since the backup\n`,
    text,
  ]);
});

Deno.test("restore creates missing folders, removes a leftover SQLite log, and sets modes and owners of files; it refuses a database in use, even by a service without a control socket", async () => {
  await using site = await siteWithBackup();
  const isRoot = Deno.uid() === 0;
  const users = `${site.folder}/conf/users.txt`;
  if (isRoot) await Deno.chown(users, 12_345, 12_345);
  await Deno.chmod(users, 0o640);
  const second = `${site.folder}/second`;
  await done("backup", second, "--config", site.main);
  await Deno.rename(`${site.folder}/conf`, `${site.folder}/conf.old`);
  await Deno.remove(`${site.folder}/data/shares.sqlite`);
  await Deno.writeTextFile(`${site.folder}/data/shares.sqlite-wal`, "of another database");
  const { files } = await done("restore", "--replace", second);
  assert.ok(files.some(({ path }: { readonly path: string }) => path === users));
  const { mode, uid } = await Deno.stat(users);
  assert.equal((mode ?? 0) & 0o777, 0o640);
  if (isRoot) assert.equal(uid, 12_345);
  const folder = await Deno.stat(`${site.folder}/conf`);
  assert.notEqual((folder.mode ?? 0) & 0o010, 0, "who may read a file may enter its folder");
  await Deno.writeTextFile(site.main, "\ncontainer.control.socket=-\n", { append: true });
  await using system = await runAt({ ...site, [Symbol.asyncDispose]: () => Promise.resolve() });
  const before = await contents(`${site.folder}/conf`);
  const { code, err } = await command("restore", "--replace", second);
  assert.equal(code, 1);
  assert.match(err, /A running service uses .*\.sqlite; stop it first/);
  assert.deepEqual(await contents(`${site.folder}/conf`), before);
  assert.deepEqual(await shares(system), ["one"]);
});

Deno.test("backup fails if it finds no database, as in another working directory than the service's", async () => {
  await using site = await createSite({
    ...SETTING,
    properties: { ...SETTING.properties, "persistence.directory": "data" },
  });
  const backup = `${site.folder}/backup`;
  const { code, err } = await command("backup", backup, "--config", site.main);
  assert.equal(code, 1);
  const looked = `${Deno.cwd()}/data`;
  assert.ok(err.includes(`expected ${looked}/shares.sqlite or ${looked}/records.sqlite;`), err);
  await assert.rejects(Deno.stat(backup), Deno.errors.NotFound);
});

Deno.test("backup and restore include the reservations, but not the host's authorities or systemd's credentials", async () => {
  const secrets = "{folder}/credentials";
  await using site = await createSite({
    properties: {
      "authservice.server.HPC.reservations.enable": "true",
      "authservice.server.HPC.reservations.file": "{folder}/conf/reservations.json",
      "container.client.publicRoots": "true",
      "container.security.credential.passwordFile": "${CREDENTIALS_DIRECTORY}/key",
    },
  });
  const folder = secrets.replace("{folder}", site.folder);
  await Deno.mkdir(folder);
  await Deno.writeTextFile(`${folder}/key`, "of systemd", { mode: 0o600 });
  await site.replace("conf/reservations.json", "[]");
  const backup = `${site.folder}/backup`;
  const made = runAuthserver(["backup", backup, "--config", site.main], {
    env: { CREDENTIALS_DIRECTORY: folder },
  });
  assert.equal(await made.ended, 0, made.printed);
  const names = ["container.properties", "users.txt", "mapfile.json", "reservations.json"];
  const certificates = ["auth-cert.pem", "auth-key.pem", "ca.pem"];
  const expected = [...certificates, ...names].map((name) => `${site.folder}/conf/${name}`);
  const { files } = await readManifest(backup);
  assert.deepEqual(files.map(({ path }) => path).toSorted(), expected.toSorted());
  assert.ok(
    made.printed.includes(`\nNot copied: ${folder}/key. Back up the sources of systemd`),
    made.printed,
  );

  const [first] = files;
  const others = ["/etc/ssl/certs/ca-certificates.crt", "/run/credentials/authserver.service/key"];
  await manifest(backup, (found) => ({
    ...found,
    files: [...found.files, ...others.map((path) => ({ ...first, path }))],
  }));
  assert.deepEqual((await readManifest(backup)).files, files, "restore knows no others");
});

Deno.test("backup copies a service whose certificate has expired, and reports missing files", async () => {
  await using site = await createSite(SETTING);
  await Deno.mkdir(`${site.folder}/data`);
  const { certificate, key } = site.authority.issue({
    subject: "CN=AUTH",
    notBefore: new Date("2020-01-01"),
    notAfter: new Date("2021-01-01"),
  });
  await site.replace("conf/auth-cert.pem", certificate);
  await site.replace("conf/auth-key.pem", key);
  await site.replace("conf/users.txt", "broken");
  await Deno.remove(`${site.folder}/conf/ca.pem`);
  const { files, missing } = await done("backup", `${site.folder}/backup`, "--config", site.main);
  assert.deepEqual(missing, [`${site.folder}/conf/ca.pem`]);
  for (const name of ["auth-cert.pem", "users.txt"]) {
    assert.ok(files.includes(`${site.folder}/conf/${name}`), name);
  }
});

Deno.test("backup records the names of owners, and restore uses them, whatever their ids on this host", async () => {
  await using site = await siteWithBackup();
  const { files: [made] } = await readManifest(site.backup);
  assert.ok(made);
  const names = await new Deno.Command("stat", { args: ["-c", "%U %G", made.path] }).output();
  assert.equal(`${made.owner} ${made.group}`, new TextDecoder().decode(names.stdout).trim());

  const places = { passwd: `${site.folder}/passwd`, group: `${site.folder}/group` };
  await Deno.writeTextFile(
    places.passwd,
    "root:x:0:0::/:\npostfix:x:995:994::/:\nauthserver:x:998:997::/:\n",
  );
  await Deno.writeTextFile(places.group, "root:x:0:\npostdrop:x:994:\nauthserver:x:997:\n");
  const owned = (about: object) =>
    ownedHere([{ ...made, uid: 995, gid: 994, ...about }], { ...SYSTEM_PATHS, ...places });
  const [here] = await owned({ owner: "authserver", group: "authserver" });
  assert.deepEqual([here?.uid, here?.gid], [998, 997]);
  const [ofRoot] = await owned({ owner: "", group: "", uid: 0, gid: 0 });
  assert.deepEqual([ofRoot?.uid, ofRoot?.gid], [0, 0]);
  const [ofDirectory] = await owned({ owner: "", group: "", uid: 70_001, gid: 70_002 });
  assert.deepEqual([ofDirectory?.uid, ofDirectory?.gid], [70_001, 70_002], "numbers of a directory service");
  await assert.rejects(
    owned({ owner: "unicore", group: "root" }),
    /: nobody here is surely its owner unicore; add it/,
  );
  await assert.rejects(
    owned({ owner: "", group: "root" }),
    /: nobody here is surely its owner 995; add it, or name another "owner" in manifest\.json/,
  );
  await assert.rejects(owned({ owner: "root", group: "" }), /its group 994/);
  const [ofFormerVersion] = await owned({ owner: undefined, group: undefined });
  assert.deepEqual([ofFormerVersion?.uid, ofFormerVersion?.gid], [995, 994]);
});

Deno.test({
  name: "restore changes nothing if this host lacks the account of a file",
  ignore: Deno.uid() !== 0,
  async fn() {
    await using site = await siteWithBackup();
    await manifest(site.backup, (found) => ({
      ...found,
      files: found.files.map((file) => ({ ...file, owner: "no-such-account" })),
    }));
    const before = await contents(`${site.folder}/conf`);
    const { code, err } = await command("restore", "--replace", site.backup);
    assert.equal(code, 1);
    assert.match(err, /its owner no-such-account/);
    assert.deepEqual(await contents(`${site.folder}/conf`), before);
  },
});

Deno.test("backup prints the command that dumps a PostgreSQL database, and restore the one that loads it", async () => {
  await using site = await createSite({
    properties: {
      "share.servers": "HPC",
      "persistence.class": "PGSQLPersist",
      "persistence.host": "db1.example.org,db2.example.org",
      "persistence.database": "auth",
      "persistence.user": "authserver",
      "persistence.password": "not-in-a-command-line",
    },
  });
  const { dump } = await done("backup", `${site.folder}/backup`, "--config", site.main);
  const at =
    '--dbname "host=db1.example.org,db2.example.org port=5432,5432 user=authserver dbname=auth target_session_attrs=read-write"';
  const file = `'${site.folder}/backup/postgres.dump'`;
  assert.equal(dump, `pg_dump --format=custom --schema=authserver --file=${file} ${at}`);
  const { load } = await done("restore", "--replace", `${site.folder}/backup`);
  assert.equal(load, `pg_restore --clean --if-exists --single-transaction ${at} ${file}`);
});

Deno.test({
  name: "the PostgreSQL commands dump a database in use as the service's user, and load it as the owner",
  ignore: POSTGRES === undefined,
  async fn() {
    const server = await TestPostgres.start();
    try {
      await server.sql("postgres", "CREATE ROLE owner LOGIN");
      await server.sql("postgres", "CREATE ROLE worker LOGIN");
      await server.sql("postgres", "CREATE DATABASE kept OWNER owner");
      const { servers, map, properties } = SETTING;
      const { "persistence.directory": _, ...kept } = properties;
      const database = { ...databaseProperties(server, "kept"), "persistence.user": "worker" };
      await using site = await createSite({ servers, map, properties: { ...kept, ...database } });
      const sh = async (line: string) => {
        const env = { PATH: `${POSTGRES}:${Deno.env.get("PATH")}` };
        const { success, stderr } = await new Deno.Command("sh", { args: ["-c", line], env }).output();
        assert.ok(success, `${line}\n${new TextDecoder().decode(stderr)}`);
      };
      const io = recordedIo({ input: "no password is asked for" });
      const migrate = ["database", "migrate", "--user", "owner", "--stdin", "--config", site.main];
      assert.equal(await runCommand(migrate, io), 0, io.err);
      const system = await runAt({ ...site, [Symbol.asyncDispose]: () => Promise.resolve() });
      await settled(system);
      await share(system, "one");
      await sh((await done("backup", `${site.folder}/backup`, "--config", site.main)).dump);
      await share(system, "two");
      await system[Symbol.asyncDispose]();
      const { load } = await done("restore", "--replace", `${site.folder}/backup`);
      await sh(load.replace("user=worker", "user=owner"));
      // The commands use the database as the service's user.
      const [one, ...others] = await done("share", "list", "--config", site.main);
      assert.deepEqual([one.path, others], [`${site.folder}/one`, []]);
      await done("share", "remove", one.id, "--config", site.main);
      assert.deepEqual(await done("share", "list", "--config", site.main), []);
    } finally {
      await server[Symbol.asyncDispose]();
    }
  },
});

// There is no release yet: the previous version comes from the history of the checkout, if it is there.
const older = await versionBefore();
Deno.test.afterAll(async () => await older?.[Symbol.asyncDispose]());
Deno.test({
  name: `rollback: after an upgrade, restore recovers the data of the previous version${
    older ? "" : " (no history here)"
  }`,
  ignore: older === undefined,
  async fn() {
    await using site = await createSite(SETTING);
    const backup = `${site.folder}/backup`;
    const serve = async () => {
      const process = older?.run(["serve", "--config", site.main]);
      assert.ok(process !== undefined);
      const [, port] = await process.prints(/service started .*port=(\d+)/);
      await process.prints(/Server started/);
      const asked: Asked = {
        folder: site.folder,
        ask: (path, question) =>
          ask(`https://localhost:${port}${path}`, site.authority.certificate, question),
      };
      return { process, asked };
    };
    const old = await serve();
    await share(old.asked, "old");
    await done("backup", backup, "--config", site.main); // by this version, before the upgrade
    old.process.kill("SIGTERM");
    assert.equal(await old.process.ended, 0);

    const upgraded = await runAt({ ...site, [Symbol.asyncDispose]: () => Promise.resolve() });
    assert.deepEqual(await shares(upgraded), ["old"]);
    await share(upgraded, "new");
    await done("ban", "add", "--user", "alice", "--for", "1h", "--config", site.main);
    await upgraded[Symbol.asyncDispose]();

    await done("restore", "--replace", backup);
    const back = await serve();
    assert.deepEqual(await shares(back.asked), ["old"]);
    back.process.kill("SIGTERM");
    assert.equal(await back.process.ended, 0);
  },
});
