import assert from "node:assert/strict";
import { DESTINATIONS } from "../../../src/notify/kinds.ts";
import type { Clock } from "../../../src/model/clock.ts";
import { Recorder } from "../../../src/notify/recorder.ts";
import { SQL } from "../../../src/sharing/store/share_sql.ts";
import { forPostgres } from "../../../src/store/postgres/postgres_sql.ts";
import { ShareStore } from "../../../src/sharing/store/share_store.ts";
import { PostgresDatabase } from "../../../src/store/postgres/postgres_database.ts";
import { until } from "../../fixtures/deadline.ts";
import { POSTGRES, TestPostgres } from "../../fixtures/postgres.ts";
import { DRAFT, testShareStore, uploadOf, USE } from "./conformance.ts";

if (POSTGRES !== undefined) {
  const server = await TestPostgres.start();
  const name = await server.database();
  /** Reports whether a transaction waits for another one. */
  const isWaiting = async () =>
    (await server.sql(name, "SELECT 1 FROM pg_locks WHERE NOT granted")).length > 0;
  /** All tests use the same connections, whose statements are prepared: new ones take twice the processor time. */
  let now: Clock = Date.now;
  const database = new PostgresDatabase({ ...server.options(name), clock: () => now() });
  const store = new ShareStore(database);
  testShareStore("shares in PostgreSQL", async (clock) => {
    await server.empty(name);
    now = clock;
    return { store, close: () => {} };
  });
  Deno.test("queries for some shares in PostgreSQL do not read all of them", async () => {
    const all: ReadonlySet<string> = new Set(["insert", "servers", "count"]);
    const connection = await server.connect(name);
    await connection.run("SET enable_seqscan = off; SET plan_cache_mode = force_generic_plan");
    for (const [what, sql] of Object.entries(SQL)) {
      if (all.has(what)) continue;
      const { text, names } = forPostgres(sql, false);
      await connection.run(`PREPARE ${what} AS ${text}`);
      const plan = await connection.run(
        `EXPLAIN EXECUTE ${what}${names.length === 0 ? "" : `(${names.map(() => "NULL").join(", ")})`}`,
      );
      const steps = plan.map((row) => String(row["QUERY PLAN"])).join("\n");
      assert.doesNotMatch(steps, /Seq Scan on share(?:_use|_upload)?\b/, `${what}: ${steps}`);
    }
    connection.destroy();
  });

  Deno.test("a one-time share in PostgreSQL that is renewed during a use stays used", async () => {
    await server.empty(name);
    const store = new ShareStore(new PostgresDatabase(server.options(name)));
    const draft = { ...DRAFT, oneTime: true, usesLeft: 1 };
    const share = await store.put("HPC", draft);
    const using = await server.connect(name);
    await using.run("BEGIN; UPDATE share SET uses_left = uses_left - 1");
    const renewed = store.put("HPC", draft);
    await until(isWaiting, { everyMs: 5 });
    await using.run("COMMIT");
    using.destroy();
    assert.notEqual((await renewed).id, share.id);
    assert.equal(await store.claim("HPC", share.id, USE), undefined);
    store.close();
  });

  Deno.test("a share in PostgreSQL that becomes one for uploads counts a simultaneous upload", async () => {
    await server.empty(name);
    const store = new ShareStore(new PostgresDatabase(server.options(name)));
    const { id } = await store.put("HPC", { ...DRAFT, access: "WRITE" });
    await store.uploads.begin(uploadOf(id, "k", { bytes: 3 }), "me");
    const using = await server.connect(name);
    await using.run(
      "BEGIN; UPDATE share_upload SET files = 2, bytes = 5; UPDATE share SET received_files = 2, received_bytes = 5",
    );
    const renewed = store.put("HPC", { ...DRAFT, access: "DROP" });
    await until(isWaiting, { everyMs: 5 });
    await using.run("COMMIT");
    using.destroy();
    assert.deepEqual((await renewed).received, { files: 2, bytes: 5 });
    store.close();
  });

  Deno.test("ShareStore reports an arrived file after earlier changes of its share", async () => {
    await server.empty(name);
    const [destination] = await Promise.all(DESTINATIONS.kinds.map(async ({ load }) => {
      const kind = await load();
      return { sort: "notification", config: { kind: kind.name, name: kind.name }, kind };
    }));
    const recorder = new Recorder(destination === undefined ? [] : [destination]);
    const store = new ShareStore(new PostgresDatabase(server.options(name)), recorder);
    const { id } = await store.put("HPC", { ...DRAFT, access: "WRITE" });
    const claim = await store.claim("HPC", id, { ...USE, kind: "HTTP-upload" });
    assert.ok(claim);
    const another = await server.connect(name);
    await another.run("BEGIN; UPDATE share SET access_count = access_count");
    let isOver = false;
    const finished = store.finish(claim, { bytes: 1, complete: true, arrived: true }).finally(() =>
      isOver = true
    );
    await until(async () => isOver || await isWaiting(), { everyMs: 5 });
    assert.equal(isOver, false);
    await another.run("COMMIT");
    another.destroy();
    await finished;
    store.close();
  });

  Deno.test.afterAll(async () => {
    store.close();
    await server[Symbol.asyncDispose]();
  });
}
