import assert from "node:assert/strict";
import { rows } from "../../../src/store/database.ts";
import { DatabaseRecordStore } from "../../../src/store/database_record_store.ts";
import { readRevocations } from "../../../src/store/postgres/changed_records.ts";
import { PostgresDatabase } from "../../../src/store/postgres/postgres_database.ts";
import { POSTGRES, TestPostgres } from "../../fixtures/postgres.ts";
import { record } from "../conformance.ts";

const KINDS = ["revoked-token", "revoked-tokens"];

Deno.test({
  name: "readRevocations() finds each change once it is visible, even if it is committed late",
  ignore: POSTGRES === undefined,
}, async () => {
  await using server = await TestPostgres.start();
  const name = await server.database();
  const database = new PostgresDatabase(server.options(name));
  const store = new DatabaseRecordStore(database);
  const ends = Math.floor(Date.now() / 1000) + 3600;
  const put = (kind: string, key: string) => store.put(kind, { ...record(key), owner: key, ends }, 9);
  const keys = ({ records }: Awaited<ReturnType<typeof readRevocations>>) =>
    records.map(({ record: { key } }) => key).toSorted();
  const move = (key: string, written: number) =>
    server.sql(
      name,
      `ALTER TABLE authserver.record DISABLE TRIGGER record_ordered;
       UPDATE authserver.record SET written = ${written} WHERE key = '${key}';
       ALTER TABLE authserver.record ENABLE TRIGGER record_ordered`,
    );
  /** Makes records look as if they were written long before the current read. */
  const age = (...keys: readonly string[]) => Promise.all(keys.map((key) => move(key, -1_000_000)));
  try {
    await put("revoked-token", "one");
    await put("revoked-tokens", "two");
    await put("token", "no revocation");
    const first = await readRevocations(database, KINDS);
    assert.deepEqual([keys(first), first.isComplete], [["one", "two"], true]);

    await age("one", "two");
    const late = await server.connect(name);
    await late.run("BEGIN");
    await late.run(
      `INSERT INTO record (kind, key, owner, made, ends, content)
       VALUES ('revoked-token', 'late', 'late', 1, ${ends}, '{}')`,
    );
    await put("revoked-token", "three");
    const second = await readRevocations(database, KINDS, first.until);
    assert.deepEqual([keys(second), second.isComplete], [["three"], false]);
    await late.run("COMMIT");
    late.destroy();
    assert.ok(keys(await readRevocations(database, KINDS, second.until)).includes("late"));
    const third = await readRevocations(database, KINDS, second.until);
    await age("three", "late");
    await put("token", "another");
    assert.deepEqual(keys(await readRevocations(database, KINDS, third.until)), []);

    await store.raise("revoked-tokens", { ...record("two"), owner: "two", made: 2_000_000_000, ends });
    assert.deepEqual(
      keys(await readRevocations(database, KINDS, third.until)),
      ["two"],
      "also what is replaced",
    );

    // A crash loses ids that were not on disk: a later revocation may get an id from before the last read.
    await move("late", third.until - 9);
    assert.deepEqual(keys(await readRevocations(database, KINDS, third.until)), ["late", "two"]);

    const ahead = await readRevocations(database, KINDS, third.until + 1_000_000);
    assert.deepEqual(
      [keys(ahead).length, ahead.isComplete],
      [4, true],
      "a server that has lost transactions",
    );
    await database.change(() =>
      rows(
        `INSERT INTO record (kind, key, owner, made, ends, content)
         SELECT 'revoked-token', 'many ' || n, 'many', 1, ${ends}, '{}' FROM generate_series(1, 12000) AS n`,
        {},
      )
    );
    const many = await readRevocations(database, KINDS, third.until);
    assert.deepEqual([many.records.length, many.isComplete], [12_004, true]);
    const [plan] = await server.sql(
      name,
      "SELECT count(*) AS n FROM authserver.record WHERE written IS NULL",
    );
    assert.equal(Number(plan?.["n"]), 2, "tokens themselves are in no order");
  } finally {
    database.close();
  }
});
