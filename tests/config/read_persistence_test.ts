import assert from "node:assert/strict";
import { loadText, MINIMAL } from "./load_fixture.ts";

const CHOSEN =
  "persistence.class=eu.unicore.persist.impl.PGSQLPersist\npersistence.database=auth\npersistence.user=me\n";

function load(lines: string, files: Record<string, string> = {}, mode?: number) {
  return loadText(MINIMAL + lines, files, { mode });
}

Deno.test("the keys of the Java service select and configure PostgreSQL", async () => {
  const { config, errors, warnings } = await load(
    `${CHOSEN}share.servers=HPC\npersistence.host=db.example\npersistence.port=5433\npersistence.password=hidden\n` +
      "persistence.max_connections=4\npersistence.driver=org.postgresql.Driver\n",
  );
  assert.deepEqual(errors, []);
  assert.deepEqual(warnings.filter((line) => line.includes("persistence.")), [
    "conf/c:17: persistence.driver: ignored: the service manages its database itself",
  ]);
  assert.deepEqual(config?.sharing.database, {
    database: "auth",
    user: "me",
    password: "hidden",
    connections: 4,
    timeoutMs: 2000,
    outageGraceSeconds: 60,
    outageTokenSeconds: 300,
    servers: [{ host: "db.example", port: 5433 }],
    tls: {},
  });
  assert.equal(config?.sharing.directory, undefined);
});

Deno.test("several database servers have one port, or one each", async () => {
  const servers = async (lines: string) => (await load(CHOSEN + lines)).config?.sharing.database?.servers;
  assert.deepEqual(await servers(""), [{ host: "localhost", port: 5432 }]);
  assert.deepEqual(await servers("persistence.host=a, b\n"), [
    { host: "a", port: 5432 },
    { host: "b", port: 5432 },
  ]);
  assert.deepEqual(await servers("persistence.host=a,b\npersistence.port=1,2\n"), [
    { host: "a", port: 1 },
    { host: "b", port: 2 },
  ]);
  const { errors } = await load(`${CHOSEN}persistence.host=a,b,c\npersistence.port=1,2\n`);
  assert.match(errors.join(), /persistence\.port = 1,2: expected one port, or 3: one for each host/);
});

for (const kind of ["", "persistence.class=x.H2Persist\n"]) {
  Deno.test(`without PostgreSQL its keys have no effect (${kind.trim()})`, async () => {
    const { config, errors } = await load(`${kind}persistence.max_connections=1\npersistence.port=x\n`);
    assert.deepEqual(errors, []);
    assert.equal(config?.sharing.database, undefined);
  });
}

Deno.test("digests of failed logins need a secret that is not in the database", async () => {
  const said = async (lines: string) =>
    (await load(CHOSEN + lines)).warnings.filter((line) => line.includes("digestSecret")).length;
  assert.equal(await said("persistence.password=hidden\n"), 0);
  assert.equal(await said(`persistence.digestSecret=${"x".repeat(32)}\n`), 0);
  assert.equal(await said(""), 1);
});

/** Refused settings, each with its message. */
const REFUSED: readonly [string, RegExp][] = [
  [
    "persistence.class=a.MySQLPersist",
    /class = MySQLPersist: expected PGSQLPersist \(PostgreSQL\), or no class \(SQLite/,
  ],
  ["persistence.class=a.PGSQLPersist", /persistence\.database: missing.*persistence\.user: missing/],
  [
    `${CHOSEN}persistence.pgsql.ssl.cert=x.pem`,
    /pgsql\.ssl\.cert: expected persistence\.pgsql\.ssl\.key too/,
  ],
  [`${CHOSEN}persistence.pgsql.ssl.rootcert=x.pem`, /pgsql\.ssl\.rootcert: cannot read \/x\.pem/],
  [`${CHOSEN}persistence.max_connections=0`, /expected a whole number from 1 to 1000/],
  [`${CHOSEN}persistence.digestSecret=hidden`, /expected a secret of at least 32 bytes/],
  [`${CHOSEN}persistence.port=5432;`, /expected a port number from 1 to 65535, or several/],
  [`${CHOSEN}persistence.pgsql.useSsl=no`, /unknown key, did you mean persistence\.pgsql\.useSSL/],
];

for (const [lines, reason] of REFUSED) {
  Deno.test(`a database setting is refused: ${lines.split("\n").at(-1)}`, async () => {
    const { config, errors } = await load(`${lines}\n`);
    assert.equal(config, undefined);
    assert.match(errors.join(), reason);
    assert.doesNotMatch(errors.join(), /hidden/);
  });
}

Deno.test("readable secrets and unencrypted database connections give warnings", async () => {
  const far = `${CHOSEN}persistence.password=hidden\npersistence.host=127.0.0.1,db.example\n`;
  const { warnings } = await load(`${far}persistence.pgsql.useSSL=false\n`, {}, 0o644);
  const all = warnings.join("\n");
  assert.match(all, /useSSL = false: expected true: on the way to db\.example others can read/);
  assert.match(all, /persistence\.password: every user of this machine can read this secret/);
  assert.doesNotMatch(all, /hidden/);
  const near = await load(`${CHOSEN}persistence.pgsql.useSSL=false\n`);
  assert.doesNotMatch(near.warnings.join(), /useSSL/);
  const files = { "k.pem": "k", "c.pem": "c" };
  const certificate = `${CHOSEN}persistence.pgsql.ssl.cert=c.pem\npersistence.pgsql.ssl.key=k.pem\n`;
  assert.match((await load(certificate, files, 0o644)).warnings.join(), /ssl\.key.*chmod o-r \/k\.pem/);
  assert.doesNotMatch((await load(certificate, files)).warnings.join(), /chmod o-r \/k\.pem/);
});
