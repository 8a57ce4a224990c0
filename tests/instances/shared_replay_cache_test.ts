import assert from "node:assert/strict";
import { SharedReplayCache } from "../../src/instances/shared_replay_cache.ts";
import { createLogger, SILENT } from "../../src/logging/logger.ts";
import { ReplayCache } from "../../src/model/replay_cache.ts";
import { type Database, DatabaseFailure, DatabaseUnavailable, rows } from "../../src/store/database.ts";
import { PostgresDatabase } from "../../src/store/postgres/postgres_database.ts";
import MARK_TABLES from "../../src/store/postgres/tables/shared_mark.sql" with { type: "text" };
import { Leases } from "../../src/store/leases.ts";
import { IN_MEMORY, SqliteDatabase } from "../../src/store/sqlite_database.ts";
import { POSTGRES, TestPostgres } from "../fixtures/postgres.ts";

const LIMITS = { all: 20, perOwner: 10 };

/** Returns the cache of one instance. @param clockMs Clock of the instance. */
function instance(database: Database, log = SILENT, clockMs = () => Date.now() + 0.25) {
  const own = new ReplayCache(LIMITS, clockMs);
  return new SharedReplayCache(own, {
    leases: new Leases(database, { log: SILENT }),
    clock: clockMs,
    log,
  });
}

const seen = (key: string, owner = "ann") => ({ owner, key, endsAt: Date.now() + 60_000 });

Deno.test({
  name: "SharedReplayCache accepts a mark once on all instances, or once on each during a database outage",
  ignore: POSTGRES === undefined,
}, async () => {
  await using server = await TestPostgres.start();
  const name = await server.database();
  const databases = [1, 2, 3].map(() => new PostgresDatabase({ ...server.options(name), timeoutMs: 1000 }));
  try {
    const caches = databases.map((database) => instance(database));
    const [one, two] = caches;
    assert.ok(one && two);
    for (let round = 0; round < 5; round++) {
      const shown = await Promise.all(caches.map((cache) => cache.note(seen(`at once ${round}`))));
      assert.equal(shown.filter((isNew) => isNew).length, 1);
    }
    assert.equal(await one.note(seen("1")), true);
    assert.equal(await two.note(seen("1", "bob")), false, "whoever shows it");
    await one.forget("1");
    assert.equal(await two.note(seen("1 again")), true);

    await server.stop();
    assert.equal(await one.note(seen("2")), true, "logins go on");
    assert.equal(await one.note(seen("2")), false, "what this instance has seen itself counts");
    assert.equal(await two.note(seen("2")), true, "nobody can tell");
    await one.forget("2");
    await server.run();
    assert.equal(await one.note(seen("3")), true);
    assert.equal(await two.note(seen("3")), false);
  } finally {
    for (const database of databases) database.close();
  }
});

Deno.test("SharedReplayCache shares no more marks of an owner than its own cache accepts", async () => {
  const steps = [MARK_TABLES.replaceAll("UNLOGGED ", "")];
  const database = new SqliteDatabase(IN_MEMORY, { what: "marks", applicationId: 1, steps }, Date.now);
  const cache = instance(database);
  const rowsOf = () => database.read(() => rows("SELECT ends FROM shared_mark", {}));
  for (let i = 0; i < 30; i++) await cache.note(seen(`mark ${i}`, "greedy"));
  const { length } = await rowsOf();
  assert.ok(length > 3 && length < 10, `${length} of 30`);
  assert.equal(await cache.note(seen("modest", "bob")), true);
  const shared = await rowsOf();
  assert.equal(shared.length, length + 1);
  for (const { ends } of shared) {
    const lastsMs = Number(ends) - Date.now();
    assert.ok(lastsMs > 60_000 && lastsMs <= 121_000, "also for an instance whose clock is behind");
  }
  database.close();
});

Deno.test("SharedReplayCache logs why it cannot share a mark, unless the database is unavailable", async () => {
  const lines: string[] = [];
  const log = createLogger((line) => lines.push(line));
  let failure: Error = new DatabaseFailure("the disk is full");
  const database: Database = {
    isOpen: true,
    read: () => Promise.reject(failure),
    change: () => Promise.reject(failure),
    version: () => 0,
    close: () => {},
  };
  const cache = instance(database, log);
  assert.equal(await cache.note(seen("1")), true);
  assert.match(
    lines.join("\n"),
    /mark of the replay cache not stored for the other instances.*the disk is full/,
  );
  failure = new DatabaseUnavailable("away");
  assert.equal(await cache.note(seen("2")), true);
  assert.equal(lines.length, 1);
  failure = new TypeError("a defect");
  await assert.rejects(cache.note(seen("3")), TypeError);
});
