/** Pooler between service and database: works if each connection has its own session, else is refused. */
import assert from "node:assert/strict";
import { POSTGRES_SCHEMA } from "../../../src/store/postgres/postgres_connection.ts";
import { checkSchema, SchemaMismatch } from "../../../src/store/postgres/postgres_schema.ts";
import { DatabaseFailure } from "../../../src/store/database.ts";
import { PostgresDatabase } from "../../../src/store/postgres/postgres_database.ts";
import { PGBOUNCER, TestPgbouncer } from "../../fixtures/pgbouncer.ts";
import { POSTGRES, TestPostgres } from "../../fixtures/postgres.ts";

for (const mode of ["session", "transaction"] as const) {
  Deno.test(`PostgresDatabase detects a pooler's mode: ${mode}`, {
    ignore: POSTGRES === undefined || PGBOUNCER === undefined,
  }, async () => {
    await using server = await TestPostgres.start();
    const name = await server.database();
    await using pooler = await TestPgbouncer.start(server, mode);
    const database = new PostgresDatabase({
      ...server.options(name),
      servers: [{ host: "127.0.0.1", port: pooler.port }],
      timeoutMs: 5000,
    });
    try {
      const found = await database.checkSessions().then(() => undefined, (error: unknown) => error);
      if (mode === "session") assert.equal(found, undefined);
      else {
        assert.ok(found instanceof DatabaseFailure, String(found));
        assert.match(found.message, /pooler.*pool_mode = session/);
      }
    } finally {
      database.close();
    }
  });
}

Deno.test(
  "PostgresDatabase gets its own notifications without a pooler",
  { ignore: POSTGRES === undefined },
  async () => {
    await using server = await TestPostgres.start();
    const database = new PostgresDatabase(server.options(await server.database()));
    try {
      await database.checkSessions();
    } finally {
      database.close();
    }
  },
);

Deno.test("a session of another connection is not taken for a database without tables", {
  ignore: POSTGRES === undefined,
}, async () => {
  await using server = await TestPostgres.start();
  const name = await server.database();
  let found: unknown;
  const database = new PostgresDatabase({
    ...server.options(name),
    checkSchema: async (connection) => {
      await checkSchema(connection);
      await connection.run("SET search_path TO public"); // as in a session that a pooler gave to others, too
      found = await checkSchema(connection).then(() => undefined, (error: unknown) => error);
      await connection.run(`SET search_path TO ${POSTGRES_SCHEMA}, pg_temp`);
    },
  });
  try {
    await database.checkSessions();
    assert.ok(found instanceof DatabaseFailure && !(found instanceof SchemaMismatch), String(found));
    assert.match(found.message, /pooler.*pool_mode = session/);
  } finally {
    database.close();
  }
});
