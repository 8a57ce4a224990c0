import assert from "node:assert/strict";
import { SILENT } from "../../src/logging/logger.ts";
import { rows } from "../../src/store/database.ts";
import MARK_TABLES from "../../src/store/postgres/tables/shared_mark.sql" with { type: "text" };
import { SharedMarks } from "../../src/store/shared_marks.ts";
import { IN_MEMORY, SqliteDatabase } from "../../src/store/sqlite_database.ts";
import { VirtualTime } from "../fixtures/virtual_time.ts";

function create() {
  const time = new VirtualTime();
  const steps = [MARK_TABLES.replaceAll("UNLOGGED ", "")];
  const database = new SqliteDatabase(IN_MEMORY, { what: "marks", applicationId: 1, steps }, time.clock);
  const marks = new SharedMarks(database, { log: SILENT, schedule: time.schedule });
  const count = async () =>
    Number((await database.read(() => rows("SELECT count(*) AS n FROM shared_mark", {})))[0]?.["n"]);
  return { time, database, marks, count };
}

const [ONE, TWO] = [{ mark: "m", holder: "one" }, { mark: "m", holder: "two" }];

Deno.test("SharedMarks gives a mark to one holder at a time, until its end or release", async () => {
  const { time, marks, database } = create();
  assert.equal(await marks.take(ONE, 1000.5), true);
  assert.equal(await marks.take(TWO, 1000), false);
  assert.equal(await marks.take({ ...TWO, mark: "other" }, 1000), true);
  assert.equal(await marks.take(ONE, 1000), false, "not even its holder takes it twice");
  await marks.release(TWO);
  assert.equal(await marks.take(TWO, 1000), false, "who does not hold it releases nothing");
  await marks.release(ONE);
  assert.equal(await marks.take(TWO, 1000), true);
  time.now += 1001;
  assert.equal(await marks.take(ONE, 0), true, "its time is over");
  database.close();
});

Deno.test("SharedMarks deletes expired marks, by thousands, once a minute", async () => {
  const { time, marks, database, count } = create();
  await database.change(() =>
    rows(
      `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2500)
       INSERT INTO shared_mark (mark, holder, ends) SELECT i, 'x', :clock + 1000 FROM n`,
      {},
    )
  );
  await marks.take(ONE, 120_000);
  await marks.start();
  assert.equal(await count(), 2501);
  await time.advance(60_000, async () => {
    for (let i = 0; i < 40; i++) await Promise.resolve();
  });
  assert.equal(await count(), 1);
  marks.close();
  database.close();
});
