import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { openShareStore } from "../../../src/sharing/store/share_store.ts";

Deno.test("openShareStore() has each change on the disk before it is acknowledged, for the power may be cut", async () => {
  const folder = await Deno.makeTempDir();
  const opened: DatabaseSync[] = [];
  const { exec } = DatabaseSync.prototype;
  DatabaseSync.prototype.exec = function (sql) {
    if (!opened.includes(this)) opened.push(this);
    return exec.call(this, sql);
  };
  try {
    const store = openShareStore(`${folder}/shares.sqlite`, Date.now);
    const settings = opened.map((database) =>
      ["synchronous", "journal_mode"].map((name) =>
        Object.values(database.prepare(`PRAGMA ${name}`).get() ?? {})[0]
      )
    );
    assert.deepEqual(settings, [[2, "wal"]], "FULL");
    store.close();
  } finally {
    DatabaseSync.prototype.exec = exec;
    await Deno.remove(folder, { recursive: true });
  }
});
