import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { isHttpError } from "../../src/model/http_error.ts";
import { openRecordStore } from "../../src/store/sqlite_record_store.ts";
import { record, testRecordStore } from "./conformance.ts";

testRecordStore("openRecordStore()", async (clock) => {
  const folder = await Deno.makeTempDir();
  const file = `${folder}/records.sqlite`;
  const store = openRecordStore(file, clock);
  return {
    store,
    another: () => Promise.resolve(openRecordStore(file, clock)),
    close: async () => {
      store.close();
      await Deno.remove(folder, { recursive: true });
    },
  };
});

Deno.test("openRecordStore() keeps records in a file that only its account can read", async () => {
  const folder = await Deno.makeTempDir();
  const file = `${folder}/records.sqlite`;
  const first = openRecordStore(file, Date.now);
  const kept = record("one", { ends: 4_000_000_000 });
  await first.put("token", kept, 9);
  assert.equal(((await Deno.stat(file)).mode ?? 0) & 0o777, 0o600);
  first.close();
  await assert.rejects(first.get("token", "one"), /not open/, "its file is given back");
  const second = openRecordStore(file, Date.now);
  assert.deepEqual(await second.get("token", "one"), kept);
  second.close();
  await Deno.remove(folder, { recursive: true });
});

Deno.test("openRecordStore() reports a failing database as an HTTP error", async () => {
  const folder = await Deno.makeTempDir();
  const store = openRecordStore(`${folder}/records.sqlite`, Date.now);
  await store.list("token");
  const other = new DatabaseSync(`${folder}/records.sqlite`);
  other.exec("DROP TABLE record");
  other.close();
  await assert.rejects(
    store.put("token", record("one"), 9),
    (error) => isHttpError(error, "ERR_RECORD_STORE"),
  );
  await assert.rejects(store.purge(), (error) => isHttpError(error, "ERR_RECORD_STORE"));
  store.close();
  await Deno.remove(folder, { recursive: true });
});
