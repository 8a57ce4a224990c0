import { until } from "../../fixtures/deadline.ts";
import assert from "node:assert/strict";
import type { Duplex } from "node:stream";
import { DatabaseUnavailable, row, rows } from "../../../src/store/database.ts";
import { PostgresDatabase } from "../../../src/store/postgres/postgres_database.ts";
import { connectPlain } from "../../../src/store/postgres/connect_plain.ts";
import { unlessAborted } from "../../../src/model/clock.ts";
import { POSTGRES, TestPostgres } from "../../fixtures/postgres.ts";

const KEEP = "INSERT INTO record VALUES ('k', :key, 'o', 1, 2, '{}') ON CONFLICT DO NOTHING";

/** Retries a change until it succeeds: with a short timeout, a busy machine may need several tries. */
async function untilKept(database: PostgresDatabase, key: string): Promise<void> {
  await until(() => database.change(() => rows(KEEP, { key })).then(() => true, () => false));
}

Deno.test("PostgresDatabase waits for a server that restarts, but not for one that stays down", {
  ignore: POSTGRES === undefined,
}, async () => {
  await using server = await TestPostgres.start({ durable: true });
  const options = server.options(await server.database());
  const [patient, hasty] = [options, { ...options, timeoutMs: 200 }].map((each) =>
    new PostgresDatabase(each)
  );
  assert(patient !== undefined && hasty !== undefined);
  await patient.change(() => rows(KEEP, { key: "before" }));
  await until(() => patient.isReachable && hasty.isReachable);
  const before = patient.version("record");
  await server.stop();
  await until(() => !patient.isReachable);
  const waiting = patient.change(() => rows(KEEP, { key: "meanwhile" }));
  waiting.catch(() => {}); // a failure is reported below
  await assert.rejects(hasty.read(() => rows("SELECT 1", {})), DatabaseUnavailable);
  // The server does not answer for longer than the timeout: then reads no longer wait.
  await until(async () => {
    const error = await hasty.read(() => rows("SELECT 1", {})).catch((error) => error);
    return /nobody answers for some time/.test(String(error));
  });
  await server.run();
  await waiting;
  assert.deepEqual(await patient.read(() => row("SELECT count(*) AS n FROM record", {})), { n: 2 });
  await until(() => patient.version("record") !== before && hasty.isReachable);
  await untilKept(hasty, "after");
  patient.close();
  hasty.close();
});

Deno.test(
  "PostgresDatabase is degraded while its tables are missing, reports each statement once, and recovers",
  {
    ignore: POSTGRES === undefined,
  },
  async () => {
    await using server = await TestPostgres.start();
    const name = await server.database();
    const defects: string[] = [];
    const database = new PostgresDatabase({
      ...server.options(name),
      defective: (_statement, { message }) => defects.push(message),
    });
    await untilKept(database, "before");
    await until(() => database.isReachable);
    const count = () => database.read(() => row("SELECT count(*) AS n FROM record", {}));
    await server.sql(name, "ALTER SCHEMA authserver RENAME TO aside");
    for (let i = 0; i < 3; i++) await assert.rejects(count(), /relation "record" does not exist/);
    assert.deepEqual(defects, ['relation "record" does not exist']);
    await until(() => database.status.kind === "degraded");
    await server.sql(name, "ALTER SCHEMA aside RENAME TO authserver");
    assert.deepEqual(await count(), { n: 1 });
    await until(() => database.status.kind === "up");
    const { defects: failures, refused } = database.status;
    assert.deepEqual([failures >= 3, refused], [true, 0], "the statement succeeds again");
    await server.sql(name, "ALTER SCHEMA authserver RENAME TO aside");
    await assert.rejects(count());
    assert.equal(defects.length, 2, "the statement succeeded in between");
    database.close();
  },
);

Deno.test("PostgresDatabase is degraded while changes of any instance wait for a synchronous standby", {
  ignore: POSTGRES === undefined,
}, async () => {
  await using server = await TestPostgres.start();
  const options = server.options(await server.database());
  const [one, other] = [400, 5000].map((timeoutMs) => new PostgresDatabase({ ...options, timeoutMs }));
  assert(one !== undefined && other !== undefined);
  const standbys = async (names: string) => {
    await server.sql("postgres", `ALTER SYSTEM SET synchronous_standby_names = '${names}'`);
    await server.sql("postgres", "SELECT pg_reload_conf()");
  };
  await untilKept(one, "before");
  await standbys("absent");
  await until(() => one.change(() => rows(KEEP, { key: "stuck" })).then(() => false, () => true));
  for (const database of [one, other]) await until(() => database.status.kind === "degraded");
  assert.deepEqual(await other.read(() => row("SELECT 1 AS n", {})), { n: 1 });
  await standbys("");
  for (const database of [one, other]) await until(() => database.status.kind === "up");
  one.close();
  other.close();
});

Deno.test(
  "PostgresDatabase is degraded while its disk is full",
  { ignore: POSTGRES === undefined },
  async () => {
    await using server = await TestPostgres.start();
    const database = new PostgresDatabase(server.options(await server.database()));
    await untilKept(database, "before");
    // The server's error for a full disk, without one.
    const full = "DO $$ BEGIN RAISE 'could not extend file' USING ERRCODE = 'disk_full'; END $$";
    await assert.rejects(database.change(() => rows(full, {})), /could not extend file/);
    await until(() => database.status.kind === "degraded");
    assert.deepEqual(await database.read(() => row("SELECT 1 AS n", {})), { n: 1 });
    await database.change(() => rows(KEEP, { key: "after" }));
    await until(() => database.status.kind === "up");
    database.close();
  },
);

Deno.test("PostgresDatabase leaves a server that no longer answers, and returns when it does", {
  ignore: POSTGRES === undefined,
}, async () => {
  await using server = await TestPostgres.start();
  const name = await server.database();
  const database = new PostgresDatabase({ ...server.options(name), timeoutMs: 400 });
  await untilKept(database, "before");
  await until(() => database.isReachable);
  await server.freeze();
  await assert.rejects(database.change(() => rows(KEEP, { key: "frozen" })), DatabaseUnavailable);
  await until(() => !database.isReachable);
  await server.thaw();
  await until(() => database.isReachable);
  await untilKept(database, "after");
  const kept = await server.sql(name, "SELECT key FROM record ORDER BY key");
  assert.deepEqual(kept.map(({ key }) => key), ["after", "before"]);
  database.close();
});

Deno.test("PostgresDatabase uses the server that accepts changes, and its successor", {
  ignore: POSTGRES === undefined,
}, async () => {
  await using first = await TestPostgres.start();
  const name = await first.database();
  await using second = await first.standby();
  const servers = [...second.options(name).servers, ...first.options(name).servers];
  const told: string[] = [];
  const database = new PostgresDatabase({
    ...first.options(name),
    servers,
    changed: ({ kind }) => told.push(kind),
  });
  await database.change(() => rows(KEEP, { key: "before" }));
  await until(() => database.isReachable);
  const kept = "SELECT count(*) AS n FROM record";
  await until(async () => (await second.sql(name, kept))[0]?.["n"] === 1);
  await first.stop();
  const waiting = database.change(() => rows(KEEP, { key: "meanwhile" }));
  await until(() => told.includes("away")); // no server accepts changes
  await second.sql("postgres", "SELECT pg_promote()");
  await waiting;
  assert.deepEqual(await database.read(() => row(kept, {})), { n: 2 });
  assert.deepEqual(await second.sql(name, kept), [{ n: 2 }]);
  await until(() => told.at(-1) === "up" && database.isReachable);
  assert.equal(told.includes("away"), true);
  database.close();
});

Deno.test("PostgresDatabase leaves a server that becomes read-only, and stops listening to it", {
  ignore: POSTGRES === undefined,
}, async () => {
  await using server = await TestPostgres.start();
  const told = Promise.withResolvers<string | undefined>();
  const sockets: Duplex[] = [];
  const database = new PostgresDatabase({
    ...server.options(await server.database()),
    changed: (condition) => condition.kind !== "up" && told.resolve(condition.reason),
    connect: async (...to) => {
      const socket = await connectPlain(...to);
      sockets.push(socket);
      return socket;
    },
  });
  await until(() => database.isReachable);
  const [listening] = sockets;
  await server.sql("postgres", "ALTER SYSTEM SET default_transaction_read_only = on");
  await server.sql("postgres", "SELECT pg_reload_conf()");
  assert.equal(await told.promise, "the server takes no changes any more");
  assert.equal(listening?.destroyed, true);
  assert.equal(database.isReachable, false);
  database.close();
});

Deno.test("PostgresDatabase stays up while a lock on one table lets work time out, also in the queue", {
  ignore: POSTGRES === undefined,
}, async () => {
  await using server = await TestPostgres.start();
  const name = await server.database();
  const told: string[] = [];
  const database = new PostgresDatabase({
    ...server.options(name),
    connections: 2, // one for work
    timeoutMs: 2000,
    changed: (condition) => told.push(condition.kind),
    async connect(to, signal) {
      const slow = new Promise((resolve) => setTimeout(resolve, 300)); // longer than queued work has left
      await unlessAborted(slow, signal);
      return await connectPlain(to, signal);
    },
  });
  const holder = await server.connect(name);
  try {
    await until(() => database.isReachable);
    await holder.run("BEGIN; LOCK TABLE share IN ACCESS EXCLUSIVE MODE");
    const late: Promise<void>[] = [];
    for (let i = 0; i < 4; i++) {
      late.push(assert.rejects(database.read(() => rows("SELECT 1 FROM share", {})), /no answer in time/));
      await new Promise((resolve) => setTimeout(resolve, 30));
    }
    await Promise.all(late);
    await database.read(() => rows("SELECT 1 FROM record", {}));
    assert.deepEqual(told, []);
  } finally {
    holder.destroy();
    database.close();
  }
});
