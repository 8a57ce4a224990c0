import assert from "node:assert/strict";
import { SILENT } from "../../src/logging/logger.ts";
import { rows } from "../../src/store/database.ts";
import MARK_TABLES from "../../src/store/postgres/tables/shared_mark.sql" with { type: "text" };
import { Leases } from "../../src/store/leases.ts";
import { IN_MEMORY, SqliteDatabase } from "../../src/store/sqlite_database.ts";
import { VirtualTime } from "../fixtures/virtual_time.ts";

function create() {
  const time = new VirtualTime();
  const steps = [MARK_TABLES.replaceAll("UNLOGGED ", "")];
  const database = new SqliteDatabase(IN_MEMORY, { what: "marks", applicationId: 1, steps }, time.clock);
  const leases = new Leases(database, { log: SILENT, schedule: time.schedule });
  const count = async () =>
    Number((await database.read(() => rows("SELECT count(*) AS n FROM shared_mark", {})))[0]?.["n"]);
  return { time, database, leases, count };
}

const [ONE, TWO] = [{ mark: "m", holder: "one" }, { mark: "m", holder: "two" }];

Deno.test("Leases gives a mark to one holder at a time, until its end or release", async () => {
  const { time, leases, database } = create();
  assert.equal(await leases.acquire(ONE, 1000.5), true);
  assert.equal(await leases.acquire(TWO, 1000), false);
  assert.equal(await leases.acquire({ ...TWO, mark: "other" }, 1000), true);
  assert.equal(await leases.acquire(ONE, 1000), false, "not even its holder takes it twice");
  await leases.release(TWO);
  assert.equal(await leases.acquire(TWO, 1000), false, "who does not hold it releases nothing");
  await leases.release(ONE);
  assert.equal(await leases.acquire(TWO, 1000), true);
  time.now += 1001;
  assert.equal(await leases.acquire(ONE, 0), true, "its time is over");
  database.close();
});

Deno.test("Leases deletes expired marks once a minute, thousands at a time", async () => {
  const { time, leases, database, count } = create();
  await database.change(() =>
    rows(
      `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2500)
       INSERT INTO shared_mark (mark, holder, ends) SELECT i, 'x', :clock + 1000 FROM n`,
      {},
    )
  );
  await leases.acquire(ONE, 120_000);
  await leases.start();
  assert.equal(await count(), 2501);
  await time.advance(60_000, async () => {
    for (let i = 0; i < 40; i++) await Promise.resolve();
  });
  assert.equal(await count(), 1);
  leases.close();
  database.close();
});
