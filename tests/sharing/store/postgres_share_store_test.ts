import { DatabaseShareStore } from "../../../src/sharing/store/database_share_store.ts";
import { PostgresDatabase } from "../../../src/store/postgres/postgres_database.ts";
import { POSTGRES, TestPostgres } from "../../fixtures/postgres.ts";
import { testShareStore } from "./conformance.ts";

if (POSTGRES !== undefined) {
  const server = await TestPostgres.start();
  const name = await server.database();
  testShareStore("shares in PostgreSQL", async (clock) => {
    await server.empty(name);
    const database = new PostgresDatabase({ ...server.options(name), clock });
    const store = new DatabaseShareStore(database);
    return { store, close: () => store.close() };
  });
  Deno.test.afterAll(() => server[Symbol.asyncDispose]());
}
