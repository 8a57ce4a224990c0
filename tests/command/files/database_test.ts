import assert from "node:assert/strict";
import { runCommand } from "../../../src/command/run_command.ts";
import { openShareStore } from "../../../src/sharing/store/share_store.ts";
import { SHARE_SCHEMA } from "../../../src/sharing/store/schema.ts";
import { rows } from "../../../src/store/database.ts";
import { PostgresDatabase } from "../../../src/store/postgres/postgres_database.ts";
import { SqliteDatabase } from "../../../src/store/sqlite_database.ts";
import { openRecordStore, RECORD_SCHEMA } from "../../../src/store/sqlite_record_store.ts";
import { Digests } from "../../../src/throttling/shared/digest.ts";
import { SharedBans } from "../../../src/throttling/shared/shared_bans.ts";
import { POSTGRES, TestPostgres } from "../../fixtures/postgres.ts";
import { DRAFT, USE } from "../../sharing/store/conformance.ts";
import { record } from "../../store/conformance.ts";
import { recordedIo } from "../recorded_io.ts";
import { allShares } from "../../sharing/store/all_shares.ts";

const server = POSTGRES === undefined ? undefined : await TestPostgres.start();
Deno.test.afterAll(() => server?.[Symbol.asyncDispose]());

const CONFIGURATION = `
container.security.sslEnabled=false
container.security.gateway.enable=false
authservice.servers=A
authservice.server.A.host=127.0.0.1
authservice.server.A.port=64434
authservice.server.A.commandHost=127.0.0.1
authservice.server.A.commandPort=64435
authservice.server.A.ssl=false
share.servers=A
persistence.directory={folder}/data
`;

/** Configuration that selects a database of the test server, and its former data folder. */
class Place implements AsyncDisposable {
  readonly folder = Deno.makeTempDirSync();
  readonly #main = `${this.folder}/container.properties`;

  constructor(keys: Readonly<Record<string, string>>) {
    Deno.mkdirSync(`${this.folder}/data`);
    const lines = Object.entries(keys).map(([key, value]) => `persistence.${key}=${value}\n`);
    const text = CONFIGURATION + lines.join("");
    Deno.writeTextFileSync(this.#main, text.replaceAll("{folder}", this.folder));
  }

  async run(words: readonly string[], input = "") {
    const io = recordedIo({ input });
    const status = await runCommand([...words, "--config", this.#main], io);
    return { status, out: io.out, err: io.err };
  }

  async [Symbol.asyncDispose]() {
    await Deno.remove(this.folder, { recursive: true });
  }
}

function chosen(port: number, database: string, user = "authserver_test") {
  return {
    class: "PGSQLPersist",
    host: "127.0.0.1",
    port: `${port}`,
    database,
    user,
    "pgsql.useSSL": "false",
  };
}

function test(name: string, check: (server: TestPostgres) => Promise<void>): void {
  Deno.test(name, { ignore: server === undefined }, async () => {
    if (server !== undefined) await check(server);
  });
}

test("database migrate creates the tables for an account that cannot change them", async (server) => {
  await server.sql("postgres", "CREATE ROLE owner LOGIN");
  await server.sql("postgres", "CREATE ROLE runtime LOGIN");
  await server.sql("postgres", "CREATE DATABASE made OWNER owner");
  await using place = new Place(chosen(server.port, "made", "runtime"));
  const early = await place.run(["share", "list"]);
  assert.deepEqual([early.status, early.out], [1, ""]);
  assert.match(early.err, /no tables yet: run `authserver database migrate`/);
  const alone = await place.run(["database", "migrate"]);
  assert.match(alone.err, /permission denied for database made/);
  const made = await place.run(["database", "migrate", "--user", "owner", "--stdin"], "secret\n");
  assert.match(made.out, /^Migrated the tables from version 0 to \d+\n$/);
  const again = await place.run(["database", "migrate", "--user", "owner", "--stdin", "--json"], "secret");
  const { from, to } = JSON.parse(again.out);
  assert.equal(from, to);
  assert.deepEqual(await place.run(["share", "list", "--json"]), { status: 0, out: "[]\n", err: "" });
  const online = await place.run(["check", "--online"]);
  assert.match(
    online.out,
    /^ok +database made 127\.0\.0\.1:\d+: +PostgreSQL \d+\S*.*, tables of version \d+$/m,
  );
  for (
    const forbidden of [
      "CREATE TABLE authserver.mine (a text)",
      "DROP TABLE authserver.share",
      "ALTER TABLE authserver.share ADD COLUMN mine text",
      "TRUNCATE authserver.share",
      "UPDATE authserver.schema_version SET version = 99",
    ]
  ) {
    await assert.rejects(
      server.sql("made", `SET ROLE runtime; ${forbidden}`),
      /denied|must be owner/,
      forbidden,
    );
  }
  await server.sql("made", "SET ROLE runtime; DELETE FROM authserver.share");
});

test("database import copies shares with their uses, and records, without duplicates", async (server) => {
  await using place = new Place(chosen(server.port, await server.database()));
  const shares = openShareStore(`${place.folder}/data/shares.sqlite`, Date.now);
  const { id } = await shares.put("A", { ...DRAFT, usesLeft: 3 });
  await shares.put("A", { ...DRAFT, path: "/data/e", note: "Ü ☃", quota: { files: 1, bytes: 2 ** 50 } });
  for (let i = 0; i < 2; i++) await shares.claim("A", id, { ...USE, path: `/data/d/${i}` });
  const all = await allShares(shares);
  shares.close();
  const records = openRecordStore(`${place.folder}/data/records.sqlite`, Date.now);
  for (const key of ["one", "two"]) await records.put("token", record(key, { ends: 4_000_000_000 }), 9);
  records.close();

  const copied = await place.run(["database", "import", "--json"]);
  assert.equal(copied.err, `Copying ${place.folder}/data, which may take minutes\n`);
  assert.deepEqual(JSON.parse(copied.out), {
    shares: { added: 2, present: 0 },
    records: { added: 2, present: 0 },
    bans: { added: 0, present: 0 },
  });
  const listed = JSON.parse((await place.run(["share", "list", "--json"])).out);
  assert.deepEqual(listed.map(({ id }: { id: string }) => id).toSorted(), all.map(({ id }) => id).toSorted());
  const shown = JSON.parse((await place.run(["share", "show", id, "--json"])).out);
  assert.deepEqual([shown.usesLeft, shown.accessCount], [1, 2]);
  assert.deepEqual(shown.uses.map(({ path }: { path: string }) => path), ["/data/d/1", "/data/d/0"]);

  const again = await place.run(["database", "import"]);
  assert.equal(
    again.out,
    "Shares: 0 copied, 2 existed already\nTokens and others: 0 copied, 2 existed already\n" +
      "Bans: 0 copied, 0 existed already\n",
  );
  assert.equal(JSON.parse((await place.run(["share", "show", id, "--json"])).out).uses.length, 2);
});

test("database import names a damaged file", async (server) => {
  await using place = new Place(chosen(server.port, await server.database()));
  const file = `${place.folder}/data/records.sqlite`;
  const records = openRecordStore(file, Date.now);
  for (let i = 0; i < 50; i++) await records.put("token", record(`${i}`, { ends: 4_000_000_000 }), 99);
  records.close();
  const bytes = await Deno.readFile(file);
  await Deno.writeFile(file, bytes.fill(0xff, 4096)); // all but the page of the tables
  const { status, err } = await place.run(["database", "import"]);
  assert.equal(status, 1);
  assert.match(err, /\S+\/data\/records\.sqlite: .*malformed/);
});

test("database import copies active bans, and which daemons were reported down", async (server) => {
  const name = await server.database();
  await using place = new Place(chosen(server.port, name));
  const digests = new Digests("");
  const ofFiles = new SqliteDatabase(`${place.folder}/data/records.sqlite`, RECORD_SCHEMA, Date.now);
  await new SharedBans(ofFiles, digests).add([
    { user: "ann", names: ["cn=ann"], lastsMs: 3_600_000 },
    { address: "192.0.2.7", lastsMs: 3_600_000 },
    { user: "bob", lastsMs: 0 },
  ]);
  ofFiles.close();
  const shares = new SqliteDatabase(`${place.folder}/data/shares.sqlite`, SHARE_SCHEMA, Date.now);
  await shares.change(() => rows("INSERT INTO notified_state VALUES ('daemon a', 'daemon.down')", {}));
  shares.close();
  await server.sql(name, "INSERT INTO operator_ban VALUES ('ann', '', '[]', 1)"); // expired
  const counts = async () => JSON.parse((await place.run(["database", "import", "--json"])).out).bans;
  assert.deepEqual(await counts(), { added: 2, present: 0 });
  assert.deepEqual(await counts(), { added: 0, present: 2 });
  using database = new PostgresDatabase(server.options(name));
  const { bans } = await new SharedBans(database, digests).read();
  assert.deepEqual(bans.map(({ user, address, names }) => [user, address, names]), [
    [undefined, "192.0.2.7", []],
    ["ann", undefined, ["cn=ann"]],
  ]);
  const states = await database.read(() => rows("SELECT * FROM notified_state", {}));
  assert.deepEqual(states, [{ subject: "daemon a", state: "daemon.down" }]);
});

test("database import copies nothing from an empty folder, and refuses a missing one", async (server) => {
  await using place = new Place(chosen(server.port, await server.database()));
  assert.match((await place.run(["database", "import"])).out, /^Shares: 0 copied, 0 existed already\n/);
  const nowhere = await place.run(["database", "import", "--directory", `${place.folder}/none`]);
  assert.match(nowhere.err, /There is no folder \S+\/none/);
});

Deno.test("database commands require a configuration that selects PostgreSQL", async () => {
  await using place = new Place({});
  for (const command of ["migrate", "import"]) {
    const { status, err } = await place.run(["database", command]);
    assert.equal(status, 1);
    assert.match(err, /chooses no PostgreSQL: expected persistence\.class=PGSQLPersist/);
  }
});

Deno.test("database commands report in one line that no server answers", async () => {
  await using place = new Place({ ...chosen(1, "none"), statementTimeout: "200" });
  for (const words of [["database", "migrate"], ["database", "import"], ["share", "list"]]) {
    const { status, err } = await place.run(words);
    assert.equal(status, 1);
    assert.match(
      err,
      /^authserver [a-z ]+: (?:127\.0\.0\.1:1 cannot be reached.*|nobody answers.*|no answer in time)\n$/,
    );
  }
});
