import assert from "node:assert/strict";
import { copyRecords } from "../../src/store/copy_records.ts";
import { insertRow } from "../../src/store/copy_rows.ts";
import { row, rows } from "../../src/store/database.ts";
import { IN_MEMORY, SqliteDatabase } from "../../src/store/sqlite_database.ts";
import { RECORD_SCHEMA } from "../../src/store/sqlite_record_store.ts";

const INSERT = "INSERT INTO record VALUES (:kind, :key, 'alice', 1, 2, :content)";

function records() {
  return new SqliteDatabase(IN_MEMORY, RECORD_SCHEMA, () => 0);
}

Deno.test("copyRecords() copies all records as they are, and leaves those alone that are there", async () => {
  const [from, to] = [records(), records()];
  for (const key of ["1", "2", "3"]) {
    await from.change(() => row(INSERT, { kind: "token", key, content: '{"from":1}' }));
  }
  await to.change(() => row(INSERT, { kind: "token", key: "2", content: '{"to":1}' }));
  assert.deepEqual(await copyRecords(from, to), { added: 2, present: 1 });
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
  assert.deepEqual(await copyRecords(from, to), { added: 0, present: 3 });
  from.close();
  to.close();
});

Deno.test("insertRow() takes text, numbers and nothing at all, and refuses other values", async () => {
  const database = new SqliteDatabase(
    IN_MEMORY,
    { what: "notes", applicationId: 1, steps: ["CREATE TABLE note (text TEXT, number INTEGER)"] },
    () => 0,
  );
  for (const note of [{ text: "a", number: 1 }, { text: null, number: 0 }, { text: "", number: null }]) {
    assert.equal(await database.change(() => insertRow("note", note)), true);
  }
  const kept = await database.read(() => rows("SELECT * FROM note", {}));
  assert.deepEqual(kept.map((row) => ({ ...row })), [
    { text: "a", number: 1 },
    { text: null, number: 0 },
    { text: "", number: null },
  ]);
  for (const text of [true, undefined, new Uint8Array(1), 1n]) {
    await assert.rejects(database.change(() => insertRow("note", { text, number: 1 })), {
      name: "TypeError",
      message: "column text has neither text nor number",
    });
  }
  database.close();
});
