import assert from "node:assert/strict";
import { SILENT } from "../../../src/logging/logger.ts";
import { ShareStore } from "../../../src/sharing/store/share_store.ts";
import { DatabaseRecordStore } from "../../../src/store/database_record_store.ts";
import { PostgresDatabase } from "../../../src/store/postgres/postgres_database.ts";
import { Leases } from "../../../src/store/leases.ts";
import { Digests } from "../../../src/throttling/shared/digest.ts";
import { SharedBans } from "../../../src/throttling/shared/shared_bans.ts";
import { SharedFailures } from "../../../src/throttling/shared/shared_failures.ts";
import { until } from "../../fixtures/deadline.ts";
import { POSTGRES, TestPostgres } from "../../fixtures/postgres.ts";
import { DRAFT } from "../../sharing/store/conformance.ts";
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
  Deno.test("a purge in PostgreSQL keeps a record that is renewed while its deletion waits", async () => {
    await server.empty(name);
    using database = new PostgresDatabase(server.options(name));
    const digests = new Digests("x");
    const store = new ShareStore(database);
    await store.put("HPC", DRAFT);
    const records = () => new DatabaseRecordStore(database).purge();
    const failures = () => new SharedFailures(database, digests).purge(1000);
    const shares = () => store.purge();
    const CASES = [
      ["record", "INSERT INTO record VALUES ('k', 'k', 'o', 1, 1, '{}')", "ends = 4e9", records],
      [
        "shared_mark",
        "INSERT INTO shared_mark VALUES ('m', 'h', 1)",
        "ends = 4e12",
        () => new Leases(database, { log: SILENT }).purge(),
      ],
      [
        "operator_ban",
        "INSERT INTO operator_ban VALUES ('ann', '', '[]', 1)",
        "ends = 4e12",
        () => new SharedBans(database, digests).purge(),
      ],
      [
        "failed_login",
        "INSERT INTO failed_login VALUES ('pairs', 'n', '', '', 1, 1)",
        "ends = 4e12",
        failures,
      ],
      ["known_login", "INSERT INTO known_login VALUES ('n', 1, 1)", "seen = 4e12", failures],
      ["share", "UPDATE share SET expires = 1", "expires = 0", shares],
      ["share", "UPDATE share SET uses_left = 0, last_used = 1", "uses_left = 1", shares],
    ] as const;
    const waiting = "SELECT count(*) AS n FROM pg_locks WHERE NOT granted";
    for (const [table, ended, renewal, purge] of CASES) {
      await server.sql(name, ended);
      const renewing = await server.connect(name);
      await renewing.run(`BEGIN; UPDATE ${table} SET ${renewal}`);
      const purged = purge();
      await until(async () => Number((await server.sql(name, waiting))[0]?.["n"]) > 0, { everyMs: 5 });
      await renewing.run("COMMIT");
      renewing.destroy();
      await purged;
      const [left] = await server.sql(name, `SELECT count(*) AS n FROM ${table}`);
      assert.equal(Number(left?.["n"]), 1, `${table}: ${renewal}`);
    }
  });

  Deno.test.afterAll(() => server[Symbol.asyncDispose]());
}
