import assert from "node:assert/strict";
import { type Schema, SqliteDatabase, UnknownDatabase } from "../../src/store/sqlite_database.ts";

const SCHEMA: Schema = {
  what: "note book",
  applicationId: 77,
  steps: ["CREATE TABLE note (text TEXT NOT NULL) STRICT"],
};
const NEWER: Schema = { ...SCHEMA, steps: [...SCHEMA.steps, "ALTER TABLE note ADD COLUMN at INTEGER"] };

async function inFolder(check: (file: string) => void): Promise<void> {
  const folder = await Deno.makeTempDir();
  try {
    check(`${folder}/notes.sqlite`);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

Deno.test("SqliteDatabase takes the steps that a file has not taken, and refuses one that took more", () =>
  inFolder((file) => {
    const old = new SqliteDatabase(file, SCHEMA);
    assert.equal(old.run("INSERT INTO note (text) VALUES (:text)", { text: "kept" }), 1);
    old.close();
    const later = new SqliteDatabase(file, NEWER);
    assert.deepEqual(later.rows("SELECT text, at FROM note", {}).map((row) => ({ ...row })), [{
      text: "kept",
      at: null,
    }]);
    later.close();
    assert.throws(
      () => new SqliteDatabase(file, SCHEMA),
      (error) =>
        error instanceof UnknownDatabase &&
        /schema version 2, this service knows up to 1/.test(error.message),
    );
  }));

Deno.test("SqliteDatabase leaves files of others alone", () =>
  inFolder((file) => {
    new SqliteDatabase(file, SCHEMA).close();
    const other = { ...SCHEMA, what: "share database", applicationId: 78 };
    assert.throws(
      () => new SqliteDatabase(file, other),
      /not a share database of this service \(application_id 77\)/,
    );
  }));

Deno.test("SqliteDatabase takes back what a change did before it failed", () =>
  inFolder((file) => {
    const database = new SqliteDatabase(file, SCHEMA);
    const insert = "INSERT INTO note (text) VALUES (:text)";
    assert.throws(() =>
      database.change(() => {
        database.run(insert, { text: "half" });
        throw new Error("no");
      }), /no/);
    assert.deepEqual(database.rows("SELECT * FROM note", {}), []);
    assert.throws(() => database.run(insert, { text: "a\0b" }), TypeError);
    database.close();
    assert.equal(database.isOpen, false);
  }));
