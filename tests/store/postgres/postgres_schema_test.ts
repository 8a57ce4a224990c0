import { until } from "../../fixtures/deadline.ts";
import assert from "node:assert/strict";
import { row } from "../../../src/store/database.ts";
import { PostgresDatabase } from "../../../src/store/postgres/postgres_database.ts";
import { migrate, SchemaMismatch } from "../../../src/store/postgres/postgres_schema.ts";
import { POSTGRES, TestPostgres } from "../../fixtures/postgres.ts";

const server = POSTGRES === undefined ? undefined : await TestPostgres.start();
Deno.test.afterAll(() => server?.[Symbol.asyncDispose]());

function test(name: string, check: (server: TestPostgres, database: string) => Promise<void>): void {
  Deno.test(name, { ignore: server === undefined }, async () => {
    if (server !== undefined) await check(server, await server.database());
  });
}

/** Returns the number of shares that a service reads from a database, or its error. */
async function tried(server: TestPostgres, name: string): Promise<unknown> {
  const database = new PostgresDatabase(server.options(name));
  try {
    return (await database.read(() => row("SELECT count(*) AS shares FROM share", {})))?.["shares"];
  } catch (error) {
    return error;
  } finally {
    database.close();
  }
}

test("migrate() creates the tables once, even if several instances run it at a time", async (server) => {
  await server.sql("postgres", "CREATE DATABASE fresh");
  assert.match(String(await tried(server, "fresh")), /no tables yet: run `authserver database migrate`/);
  const connections = await Promise.all([server.connect("fresh"), server.connect("fresh")]);
  const steps = await Promise.all(connections.map(migrate));
  assert.deepEqual(steps.map(({ from }) => from === 0).toSorted(), [false, true]);
  for (const connection of connections) connection.destroy();
  assert.equal(await tried(server, "fresh"), 0);
});

test(
  "PostgresDatabase refuses tables that are too new for it, and works next to a newer service",
  async (server, name) => {
    const [ours] = await server.sql(name, "SELECT version FROM schema_version");
    await server.sql(name, "UPDATE schema_version SET version = 99");
    assert.equal(await tried(server, name), 0, "what was added is in nobody's way");
    await server.sql(name, `UPDATE schema_version SET works_with = ${ours?.["version"]}`);
    assert.equal(await tried(server, name), 0, "services with our tables are those that it works with");
    const again = await server.connect(name);
    assert.deepEqual(await migrate(again), { from: 99, to: 99 });
    again.destroy();
    await server.sql(name, "UPDATE schema_version SET works_with = works_with + 1");
    const refused = await tried(server, name);
    assert.ok(refused instanceof SchemaMismatch);
    assert.match(refused.message, /version 99, .* up to \d+: it is too old/);
    const connection = await server.connect(name);
    await assert.rejects(migrate(connection), SchemaMismatch);
    connection.destroy();
  },
);

test("the tables admit services of the previous version, and none that are older", async (server, name) => {
  const [tables] = await server.sql(name, "SELECT version, works_with FROM schema_version");
  assert.equal(Number(tables?.["works_with"]), Number(tables?.["version"]) - 1);
});

test(
  "PostgresDatabase refuses tables that are older than it, and leaves no connection open",
  async (server, name) => {
    await server.sql(name, "UPDATE schema_version SET version = 0, works_with = 0");
    assert.ok(await tried(server, name) instanceof SchemaMismatch);
    const open = `SELECT count(*)::int AS open FROM pg_stat_activity WHERE datname = '${name}'`;
    await until(async () => (await server.sql("postgres", open))[0]?.["open"] === 0, { everyMs: 5 });
  },
);

test("migrate() reports missing permissions, and leaves nothing behind", async (server) => {
  await server.sql("postgres", "CREATE DATABASE foreign_one");
  await server.sql("postgres", "CREATE ROLE guest");
  const connection = await server.connect("foreign_one");
  await connection.run("SET ROLE guest");
  await assert.rejects(migrate(connection), /permission denied for database foreign_one/);
  await connection.run("ROLLBACK; RESET ROLE");
  assert.deepEqual(await migrate(connection).then(({ from }) => from), 0);
  connection.destroy();
});
