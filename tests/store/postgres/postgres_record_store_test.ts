import { DatabaseRecordStore } from "../../../src/store/database_record_store.ts";
import { PostgresDatabase } from "../../../src/store/postgres/postgres_database.ts";
import { POSTGRES, TestPostgres } from "../../fixtures/postgres.ts";
import { testRecordStore } from "../conformance.ts";

if (POSTGRES !== undefined) {
  const server = await TestPostgres.start();
  const name = await server.database();
  testRecordStore("records in PostgreSQL", async (clock) => {
    await server.empty(name);
    const options = { ...server.options(name), clock };
    const open = () => new DatabaseRecordStore(new PostgresDatabase(options));
    const store = open();
    return { store, another: () => Promise.resolve(open()), close: () => store.close() };
  });
  Deno.test.afterAll(() => server[Symbol.asyncDispose]());
}
