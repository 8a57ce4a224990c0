import { until } from "../../fixtures/deadline.ts";
import assert from "node:assert/strict";
import { DatabaseFailure } from "../../../src/store/database.ts";
import { migrateDatabase } from "../../../src/store/postgres/postgres_migration.ts";
import { POSTGRES, TestPostgres } from "../../fixtures/postgres.ts";

const server = POSTGRES === undefined ? undefined : await TestPostgres.start();
Deno.test.afterAll(() => server?.[Symbol.asyncDispose]());

function test(name: string, check: (server: TestPostgres) => Promise<void>): void {
  Deno.test(`migrateDatabase() ${name}`, { ignore: server === undefined }, async () => {
    if (server !== undefined) await check(server);
  });
}

/** Returns the rights of an account on tables, and whether it may create its own. */
async function rights(server: TestPostgres, database: string, role: string) {
  const name = role.replaceAll("'", "''");
  const has = (table: string, right: string) =>
    `has_table_privilege('${name}', 'authserver.${table}', '${right}') AS "${table} ${right}"`;
  const [found] = await server.sql(
    database,
    `SELECT ${has("share", "SELECT")}, ${has("share", "DELETE")}, ${has("share", "TRUNCATE")},
            ${has("schema_version", "SELECT")}, ${has("schema_version", "INSERT")},
            has_sequence_privilege('${name}', 'authserver.notification_number_seq', 'SELECT') AS "sequence SELECT",
            has_schema_privilege('${name}', 'authserver', 'CREATE') AS "CREATE"`,
  );
  return found;
}

test("permits the working account only to use the tables", async (server) => {
  await server.sql("postgres", 'CREATE ROLE "wor""ker"');
  await server.sql("postgres", "CREATE DATABASE two_accounts");
  const versions = await migrateDatabase(server.options("two_accounts"), 'wor"ker');
  assert.equal(versions.from, 0);
  assert.deepEqual(await rights(server, "two_accounts", 'wor"ker'), {
    "share SELECT": true,
    "share DELETE": true,
    "share TRUNCATE": false,
    "schema_version SELECT": true,
    "schema_version INSERT": false,
    "sequence SELECT": true,
    "CREATE": false,
  });
  const { to } = versions;
  assert.deepEqual(await migrateDatabase(server.options("two_accounts"), 'wor"ker'), { from: to, to });
});

test("revokes nothing from an account that both owns and uses the tables", async (server) => {
  await server.sql("postgres", "CREATE ROLE sole LOGIN");
  await server.sql("postgres", "CREATE DATABASE one_account OWNER sole");
  const options = server.options("one_account");
  const login = { ...options.login, user: "sole" };
  await migrateDatabase({ ...options, login }, "sole");
  assert.deepEqual(await rights(server, "one_account", "sole"), {
    "share SELECT": true,
    "share DELETE": true,
    "share TRUNCATE": true,
    "schema_version SELECT": true,
    "schema_version INSERT": true,
    "sequence SELECT": true,
    "CREATE": true,
  });
});

test("reports a missing account, and leaves no connection open", async (server) => {
  await server.sql("postgres", "CREATE DATABASE nobody");
  await assert.rejects(
    migrateDatabase(server.options("nobody"), "absent"),
    (error) => error instanceof DatabaseFailure && /role "absent" does not exist/.test(error.message),
  );
  const open = "SELECT count(*)::int AS open FROM pg_stat_activity WHERE datname = 'nobody'";
  await until(async () => (await server.sql("postgres", open))[0]?.["open"] === 0, { everyMs: 5 });
});
