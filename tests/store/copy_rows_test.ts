import assert from "node:assert/strict";
import { setImmediate } from "node:timers/promises";
import { type CopiedTable, copyRows, insertRows } from "../../src/store/copy_rows.ts";
import { type Database, row, rows } from "../../src/store/database.ts";
import { IN_MEMORY, SqliteDatabase } from "../../src/store/sqlite_database.ts";
import { RECORD_SCHEMA } from "../../src/store/sqlite_record_store.ts";

const INSERT = "INSERT INTO record VALUES (:kind, :key, 'alice', 1, 2, :content)";

const RECORDS: CopiedTable = { name: "record", key: ["kind", "key"] };

function records() {
  return new SqliteDatabase(IN_MEMORY, RECORD_SCHEMA, () => 0);
}

Deno.test("copyRows() copies all records unchanged, and skips existing ones", async () => {
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

Deno.test("copyRows() does not overwrite rows that appear while it copies", async () => {
  const [from, to] = [records(), records()];
  const insert = (content: string) => () => row(INSERT, { kind: "token", key: "1", content });
  await from.change(insert('{"from":1}'));
  const change = to.change.bind(to);
  to.change = async (work) => {
    await change(insert('{"to":1}'));
    return await change(work);
  };
  assert.deepEqual(await copyRows(from, to, RECORDS), { added: 0, present: 1 });
  assert.deepEqual((await to.read(() => rows("SELECT content FROM record", {}))).map((row) => ({ ...row })), [
    { content: '{"to":1}' },
  ]);
  from.close();
  to.close();
});

Deno.test("insertRows() accepts text, numbers and NULL, and refuses other values", async () => {
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

const DETAILED = {
  what: "folders",
  applicationId: 1,
  steps: [
    `CREATE TABLE folder (host TEXT, id TEXT, PRIMARY KEY (host, id));
     CREATE TABLE leaf (key INTEGER PRIMARY KEY, host TEXT, id TEXT, text TEXT);
     CREATE INDEX leaf_by_folder ON leaf (host, id)`,
  ],
};

const FOLDERS: CopiedTable = { name: "folder", key: ["host", "id"], details: "leaf" };

Deno.test("copyRows() copies thousands of rows of several groups with all their details", async () => {
  const open = () => new SqliteDatabase(IN_MEMORY, DETAILED, () => 0);
  const [from, to] = [open(), open()];
  const numbers = "WITH RECURSIVE number(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < :most)";
  for (const host of ["a", "b"]) {
    await from.change(() =>
      rows(`INSERT INTO folder ${numbers} SELECT :host, 'f' || n FROM number`, { host, most: 3000 })
    );
    await from.change(() =>
      rows(
        `INSERT INTO leaf (host, id, text) ${numbers} SELECT :host, 'f' || (n % 300 + 1), 't' || n FROM number`,
        { host, most: 15_000 },
      )
    );
  }
  await to.change(() => row("INSERT INTO folder VALUES ('a', 'f7')", {}));
  assert.deepEqual(await copyRows(from, to, FOLDERS), { added: 5999, present: 1 });
  const leaves = async (database: SqliteDatabase) =>
    (await database.read(() =>
      rows("SELECT host, id, text FROM leaf WHERE (host, id) <> ('a', 'f7') ORDER BY host, id, key", {})
    )).map((row) => ({ ...row }));
  assert.deepEqual(await leaves(to), await leaves(from));
  const [kept] = await to.read(() =>
    rows("SELECT count(*) AS n FROM leaf WHERE (host, id) = ('a', 'f7')", {})
  );
  assert.equal(kept?.n, 0, "what was there already stays as it is");
  assert.deepEqual(await copyRows(from, to, FOLDERS), { added: 0, present: 6000 });
  from.close();
  to.close();
});

Deno.test("copyRows() reads the next rows while earlier ones are inserted, and fails with the first that fails", async () => {
  const [from, memory] = [records(), records()];
  const numbers = "WITH RECURSIVE number(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < 3000)";
  await from.change(() =>
    row(`INSERT INTO record ${numbers} SELECT 'token', 'k' || n, 'alice', 1, 2, '{}' FROM number`, {})
  );
  const failures = [undefined, new Error("the disk is full"), new Error("it is still full")];
  const state = { inFlight: 0, most: 0, begun: 0 };
  const to: Database = {
    isOpen: true,
    read: (work) => memory.read(work),
    change: async (work) => {
      const failure = failures[state.begun++];
      state.most = Math.max(state.most, ++state.inFlight);
      await setImmediate();
      state.inFlight--;
      if (failure !== undefined) throw failure;
      return await memory.change(work);
    },
    version: () => 0,
    close: () => {},
  };
  await assert.rejects(copyRows(from, to, RECORDS), { message: "the disk is full" });
  assert.equal(state.most, 2);
  failures.splice(0);
  const { added, present } = await copyRows(from, to, RECORDS);
  assert.equal(added + present, 3000);
  from.close();
  memory.close();
});
