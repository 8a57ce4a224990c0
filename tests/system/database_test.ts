import assert from "node:assert/strict";
import { DATABASE_PASSWORD, POSTGRES, TestPostgres } from "../fixtures/postgres.ts";
import { startService } from "../../src/command/serving/running_service.ts";
import { EVERYBODY } from "../../src/sharing/share.ts";
import { createAuthority } from "../pki/authority.ts";
import { ALICE, createSite, runService, type SystemUnderTest, withProperties } from "./running_service.ts";

const authority = createAuthority({ subject: "CN=Demo CA,O=Demo,C=EU" });
const issued = authority.issue({ subject: "CN=db", names: ["127.0.0.1"] });
/** Accepts one user only with TLS, and the others only without. */
const server = POSTGRES === undefined
  ? undefined
  : await TestPostgres.start({ tls: { ...issued, authority: authority.certificate } });
Deno.test.afterAll(() => server?.[Symbol.asyncDispose]());

/** Returns the properties that select a database of the test server. */
function chosen(port: number, database: string): Record<string, string> {
  return {
    "share.servers": "HPC",
    "persistence.class": "eu.unicore.persist.impl.PGSQLPersist",
    "persistence.host": "127.0.0.1",
    "persistence.port": String(port),
    "persistence.database": database,
    "persistence.user": "authserver_test",
    "persistence.pgsql.useSSL": "false",
  };
}

function test(name: string, check: (server: TestPostgres) => Promise<void>): void {
  Deno.test(name, { ignore: server === undefined }, async () => {
    if (server !== undefined) await check(server);
  });
}

async function share(system: SystemUnderTest): Promise<number> {
  const body = { path: `${system.folder}/conf`, user: EVERYBODY, access: "READ" };
  const { status, headers } = await system.ask("/rest/share/HPC", { as: ALICE, body });
  if (status === 503) assert.equal(headers["retry-after"], "30");
  return status;
}

async function login(system: SystemUnderTest): Promise<number> {
  return (await system.ask("/rest/auth/HPC", { as: ALICE, body: { serverPath: system.folder } })).status;
}

/** Service that connects by TLS, for the first tests. */
let byTls: { readonly system: SystemUnderTest; readonly name: string } | undefined;
Deno.test.afterAll(() => byTls?.system[Symbol.asyncDispose]());

async function runByTls(server: TestPostgres) {
  if (byTls !== undefined) return byTls;
  const name = await server.database();
  const { "persistence.pgsql.useSSL": _, ...keys } = chosen(server.port, name);
  const system = await runService({
    authority,
    properties: { ...keys, "persistence.user": "by_password", "persistence.password": DATABASE_PASSWORD },
    files: { "conf/other.pem": createAuthority({ subject: "CN=Another CA" }).certificate },
  });
  return byTls = { system, name };
}

test("a service stores shares and tokens in the database, where other services find them", async (server) => {
  const { system, name } = await runByTls(server);
  assert.equal(await share(system), 201);
  assert.equal(
    (await system.ask("/rest/auth/token", { as: ALICE, headers: { Accept: "text/plain" } })).status,
    200,
  );
  const [found] = await server.sql(
    name,
    "SELECT (SELECT count(*) FROM share) AS shares, (SELECT count(*) FROM record WHERE kind = 'token') AS tokens",
  );
  assert.deepEqual(found, { shares: 1, tokens: 1 });
  await using other = await runService({ properties: chosen(server.port, name) });
  const shares = await other.ask("/rest/share/HPC", { as: ALICE });
  assert.match(shares.text, new RegExp(`${system.folder}/conf`));
});

test("the workers connect to the database by TLS if its certificate is trusted", async (server) => {
  const { system } = await runByTls(server);
  assert.equal(await share(system), 201);
  const before = system.log.length;
  const rootcert = { "persistence.pgsql.ssl.rootcert": `${system.folder}/conf/other.pem` };
  await system.replace(
    "conf/container.properties",
    withProperties(await Deno.readTextFile(system.main), rootcert),
  );
  await system.service.reload();
  assert.equal(await share(system), 503);
  await system.logged(/the certificate of 127\.0\.0\.1/, before);
});

/** Starts a service that must not start, in this process. @returns What it tells. */
async function refusal(properties: Readonly<Record<string, string>>): Promise<string> {
  await using site = await createSite({ properties });
  const told: string[] = [];
  await assert.rejects(startService(site.main, () => {}, { console: (text) => told.push(text) }));
  return told.join("");
}

test("a service does not start if its tables are missing or too new", async (server) => {
  const name = await server.database();
  await server.sql(name, "UPDATE schema_version SET version = 99, works_with = 99");
  assert.match(await refusal(chosen(server.port, name)), /version 99.*too old for them/);
  await server.sql("postgres", "CREATE DATABASE empty");
  assert.match(await refusal(chosen(server.port, "empty")), /authserver database migrate/);
});

// The last test, as the others need the database.
test("a service without its database starts and serves logins, and serves shares once the database is available", async (server) => {
  const name = await server.database();
  await server.stop();
  await using system = await runService({
    properties: { ...chosen(server.port, name), "persistence.statementTimeout": "500" },
  });
  assert.equal(await login(system), 200);
  assert.equal(await share(system), 503);
  await server.run();
  await system.logged(/database is there/);
  assert.equal(await share(system), 201);
  await server.stop();
  await system.logged(/database is away/);
  assert.equal(await share(system), 503);
  assert.equal(await login(system), 200);
});
