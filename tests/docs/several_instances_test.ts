import assert from "node:assert/strict";
import { row } from "../../src/store/database.ts";
import { migrateDatabase } from "../../src/store/postgres/postgres_migration.ts";
import { PostgresDatabase } from "../../src/store/postgres/postgres_database.ts";
import { POSTGRES, TestPostgres } from "../fixtures/postgres.ts";

const PAGE = new URL("../../docs/several-instances.md", import.meta.url);

Deno.test(
  "the accounts and rights of docs/several-instances.md are sufficient and minimal",
  {
    ignore: POSTGRES === undefined,
  },
  async () => {
    await using server = await TestPostgres.start();
    const page = await Deno.readTextFile(PAGE);
    const [, sql = ""] = /^```sql\n([\s\S]*?)^```$/m.exec(page) ?? [];
    for (const statement of sql.split(";\n").filter((text) => text.trim() !== "")) {
      await server.sql("postgres", statement); // one at a time: CREATE DATABASE fails in a transaction
    }
    const options = server.options("authserver");
    const as = (user: string) => ({ ...options, login: { ...options.login, user } });
    await assert.rejects(migrateDatabase(as("authserver"), "authserver"), /permission denied/);
    const { from, to } = await migrateDatabase(as("authserver_owner"), "authserver");
    assert.ok(from === 0 && to > 0);
    const database = new PostgresDatabase(as("authserver"));
    await database.change(() =>
      row(
        "INSERT INTO record (kind, key, owner, made, ends, content) VALUES ('a', 'b', 'c', :now, :now, '')",
        {},
      )
    );
    await assert.rejects(database.change(() => row("CREATE TABLE mine (a text)", {})), /permission denied/);
    await assert.rejects(
      database.change(() => row("CREATE TEMPORARY TABLE mine (a text)", {})),
      /permission/,
    );
    await assert.rejects(database.change(() => row("DROP TABLE share", {})), /must be owner/);
    database.close();
    // Other roles of the cluster may not connect.
    await server.sql("postgres", "CREATE ROLE stranger LOGIN");
    const stranger = new PostgresDatabase({ ...as("stranger"), timeoutMs: 5000 });
    await assert.rejects(stranger.read(() => row("SELECT 1", {})), /permission denied for database/);
    stranger.close();
  },
);
