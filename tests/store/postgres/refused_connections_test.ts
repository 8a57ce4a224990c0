/** Connections that a server refuses for a while; this once disabled an instance for ever. */
import assert from "node:assert/strict";
import { row } from "../../../src/store/database.ts";
import { PostgresDatabase } from "../../../src/store/postgres/postgres_database.ts";
import { POSTGRES, TestPostgres } from "../../fixtures/postgres.ts";

/** Waits for a condition, at most a minute. */
async function until(what: string, condition: () => boolean | Promise<boolean>): Promise<void> {
  const late = AbortSignal.timeout(60_000);
  while (!await condition()) {
    if (late.aborted) throw new Error(`waited in vain until ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

Deno.test(
  "PostgresDatabase recovers from refused connections, by itself and with the next request",
  {
    ignore: POSTGRES === undefined,
  },
  async () => {
    await using server = await TestPostgres.start();
    const name = await server.database();
    // Connection limits do not apply to superusers such as the user of the tests.
    await server.sql(
      name,
      `CREATE ROLE limited LOGIN; GRANT ALL ON SCHEMA authserver TO limited;
     GRANT ALL ON ALL TABLES IN SCHEMA authserver TO limited`,
    );
    const told: string[] = [];
    const database = new PostgresDatabase({
      ...server.options(name),
      login: { ...server.login(name), user: "limited" },
      connections: 4,
      timeoutMs: 300,
      changed: ({ kind }) => told.push(kind),
    });
    const one = () => database.read(() => row("SELECT 1 AS one", {}));
    try {
      await until("it listens", () => database.isReachable);
      const limit = (most: number) => server.sql(name, `ALTER ROLE limited CONNECTION LIMIT ${most}`);
      for (let round = 0; round < 2; round++) {
        await limit(1); // the listening connection
        await server.sql(
          name,
          `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'limited'
           AND query NOT LIKE 'LISTEN%' AND query NOT LIKE 'SELECT%readOnly%'`,
        );
        // On a busy machine, work may reach its time limit before the server refuses a connection.
        await until("the state tells of refused connections", async () => {
          await one().catch(() => {});
          const { status } = database;
          return status.kind !== "up" && /too many connections for role/.test(status.reason);
        });
        await limit(-1);
        if (round === 0) await until("it is up without any work", () => database.status.kind === "up");
        await until("work goes on", () => one().then(() => true, () => false));
        assert.equal(database.status.kind, "up");
      }
      assert.equal(told.at(-1), "up");
    } finally {
      database.close();
    }
  },
);

Deno.test("PostgresDatabase reports an invalid statement as a defect, with its name", {
  ignore: POSTGRES === undefined,
}, async () => {
  await using server = await TestPostgres.start();
  const defects: string[] = [];
  const database = new PostgresDatabase({
    ...server.options(await server.database()),
    defective: (statement, { message }) => defects.push(`${statement}: ${message}`),
  });
  try {
    await assert.rejects(
      database.read(() => row("SELECT nothing FROM record WHERE key = :key", { key: "k" })),
    );
    assert.deepEqual(defects, ['SELECT record: column "nothing" does not exist']);
    assert.equal(database.status.defects, 1);
    await assert.rejects(database.read(() => row("SELECT :at AS at", { at: 12047.246237 })), TypeError);
    assert.equal(database.status.defects, 1, "a fraction is refused before the database sees it");
  } finally {
    database.close();
  }
});

Deno.test("PostgresDatabase reports that it may not record changes, but not that it waited for a lock", {
  ignore: POSTGRES === undefined,
}, async () => {
  await using server = await TestPostgres.start();
  const name = await server.database();
  const user = "changes_nothing";
  await server.sql(
    name,
    `CREATE ROLE ${user} LOGIN; GRANT USAGE ON SCHEMA authserver TO ${user};
     GRANT SELECT ON ALL TABLES IN SCHEMA authserver TO ${user}`,
  );
  const defects: string[] = [];
  const options = server.options(name);
  const database = new PostgresDatabase({
    ...options,
    login: { ...options.login, user },
    defective: (statement, { message }) => defects.push(`${statement}: ${message}`),
  });
  const holder = await server.connect(name);
  try {
    await holder.run("SELECT pg_advisory_lock(hashtextextended('held', 0))");
    const change = (lock: string) => database.change(() => row("SELECT 1 AS one", {}), { lock });
    const waiting = assert.rejects(change("held"), /canceling statement/);
    const cancel = `SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE usename = '${user}'
      AND wait_event_type = 'Lock'`;
    await until("it is cancelled", async () => (await server.sql(name, cancel)).length > 0);
    await waiting;
    assert.deepEqual(defects, []);
    for (let i = 0; i < 2; i++) await assert.rejects(change("free"), /permission denied/);
    assert.deepEqual(defects, ["INSERT change_made: permission denied for table change_made"]);
    assert.equal(database.status.defects, 2);
  } finally {
    holder.destroy();
    database.close();
  }
});

Deno.test("a statement that changes no row notifies nobody", { ignore: POSTGRES === undefined }, async () => {
  await using server = await TestPostgres.start();
  const name = await server.database();
  const database = new PostgresDatabase(server.options(name));
  try {
    await until("it listens", () => database.isReachable);
    const insert = (key: string) =>
      server.sql(name, `INSERT INTO record VALUES ('k', '${key}', 'o', 1, 2, '{}')`);
    const before = database.version("record");
    await server.sql(name, "UPDATE record SET ends = 3 WHERE key = 'nobody'");
    await server.sql(name, "DELETE FROM record WHERE key = 'nobody'");
    await insert("one");
    await until("the change is heard of", () => database.version("record") !== before);
    assert.equal(
      database.version("record"),
      before + 1,
      "for the row that was inserted, and for nothing else",
    );
  } finally {
    database.close();
  }
});
