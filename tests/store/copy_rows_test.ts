import assert from "node:assert/strict";
import { copyRows, insertRows } from "../../src/store/copy_rows.ts";
import { SHARE_SCHEMA } from "../../src/sharing/store/schema.ts";
import { DatabaseShareStore } from "../../src/sharing/store/database_share_store.ts";
import { DRAFT, USE } from "../sharing/store/conformance.ts";
import { type Database, row, rows } from "../../src/store/database.ts";
import { IN_MEMORY, SqliteDatabase } from "../../src/store/sqlite_database.ts";
import { RECORD_SCHEMA } from "../../src/store/sqlite_record_store.ts";

const INSERT = "INSERT INTO record VALUES (:kind, :key, 'alice', 1, 2, :content)";

const RECORDS = { name: "record", key: ["kind", "key"] } as const;
const SHARES = { name: "share", key: ["server", "id"], details: "share_use" } as const;

function records() {
  return new SqliteDatabase(IN_MEMORY, RECORD_SCHEMA, () => 0);
}

Deno.test("copyRows() copies all records as they are, and leaves those alone that are there", async () => {
  const [from, to] = [records(), records()];
  for (const key of ["1", "2", "3"]) {
    await from.change(() => row(INSERT, { kind: "token", key, content: '{"from":1}' }));
  }
  await to.change(() => row(INSERT, { kind: "token", key: "2", content: '{"to":1}' }));
  assert.deepEqual(await copyRows(from, to, RECORDS), { added: 2, present: 1 });
  const found = await to.read(() => rows("SELECT * FROM record ORDER BY key", {}));
  const record = (key: string, content: string) => ({
    kind: "token",
    key,
    owner: "alice",
    made: 1,
    ends: 2,
    content,
  });
  assert.deepEqual(found.map((row) => ({ ...row })), [
    record("1", '{"from":1}'),
    record("2", '{"to":1}'),
    record("3", '{"from":1}'),
  ]);
  assert.deepEqual(await copyRows(from, to, RECORDS), { added: 0, present: 3 });
  from.close();
  to.close();
});

Deno.test("insertRows() takes text, numbers and nothing at all, and refuses other values", async () => {
  const database = new SqliteDatabase(
    IN_MEMORY,
    { what: "notes", applicationId: 1, steps: ["CREATE TABLE note (text TEXT, number INTEGER)"] },
    () => 0,
  );
  for (const note of [{ text: "a", number: 1 }, { text: null, number: 0 }, { text: "", number: null }]) {
    assert.equal((await database.change(() => insertRows("note", [note], "text"))).length, 1);
  }
  const kept = await database.read(() => rows("SELECT * FROM note", {}));
  assert.deepEqual(kept.map((row) => ({ ...row })), [
    { text: "a", number: 1 },
    { text: null, number: 0 },
    { text: "", number: null },
  ]);
  for (const text of [true, undefined, new Uint8Array(1), 1n]) {
    await assert.rejects(database.change(() => insertRows("note", [{ text, number: 1 }], "text")), {
      name: "TypeError",
      message: "column text has neither text nor number",
    });
  }
  database.close();
});

Deno.test("copyRows() copies more rows than a statement takes, in few statements, and asks a second time for keys alone", async () => {
  const [from, to] = [records(), records()];
  await from.change(() =>
    rows(
      `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 4500)
       INSERT INTO record SELECT 'k' || (i % 2), 'key' || i, 'alice', 1, 2, '{}' FROM n`,
      {},
    )
  );
  const told: number[] = [];
  let changes = 0;
  const counting: Database = {
    isOpen: true,
    read: (work) => to.read(work),
    change(work) {
      changes++;
      return to.change(work);
    },
    version: () => to.version(),
    close: () => {},
  };
  assert.deepEqual(await copyRows(from, counting, RECORDS, (done) => told.push(done)), {
    added: 4500,
    present: 0,
  });
  assert.ok(changes < 40, `${changes} changes`);
  assert.equal(told.at(-1), 4500);
  assert.deepEqual(told, told.toSorted((a, b) => a - b));
  changes = 0;
  assert.deepEqual(await copyRows(from, counting, RECORDS), { added: 0, present: 4500 });
  assert.equal(changes, 0);
  from.close();
  to.close();
});

Deno.test("copyRows() copies each row with all of its details, however many there are, in their order", async () => {
  const [from, to] = [0, 0].map(() => new SqliteDatabase(IN_MEMORY, SHARE_SCHEMA, () => 0));
  assert.ok(from && to);
  const store = new DatabaseShareStore(from);
  for (let i = 0; i < 30; i++) {
    const { id } = await store.put("A", { ...DRAFT, path: `/${i}` });
    await from.change(() =>
      rows(
        `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 999)
         INSERT INTO share_use (server, id, at, who, address, kind, path)
         SELECT 'A', :id, 999 - i, :who, '192.0.2.1', 'UFTP', '/' || i FROM n`,
        { id, who: USE.who },
      )
    );
  }
  assert.deepEqual(await copyRows(from, to, SHARES), { added: 30, present: 0 });
  const uses = "SELECT server, id, at, path FROM share_use ORDER BY id, key";
  const [before, after] = await Promise.all([from, to].map((one) => one.read(() => rows(uses, {}))));
  assert.equal(after?.length, 30 * 999);
  assert.deepEqual(after, before);
  from.close();
  to.close();
});
