import assert from "node:assert/strict";
import { SILENT } from "../../../src/logging/logger.ts";
import { Sinks } from "../../../src/logging/sink.ts";
import { Records } from "../../../src/service/assembly/open_database.ts";
import type { RecordStore } from "../../../src/store/record_store.ts";

const recordsAt = (place: string | undefined, readOnly: boolean) =>
  new Records(place, Date.now, new Sinks(SILENT).of("records"), readOnly);

async function has(store: RecordStore | undefined, key: string): Promise<boolean> {
  return await store?.get("test", key) !== undefined;
}

Deno.test("read-only Records return stored records, and create no files", async () => {
  const place = await Deno.makeTempDir();
  const early = recordsAt(place, true);
  assert.equal(await has(early.open(), "kept"), false);
  assert.deepEqual([...Deno.readDirSync(place)], []);
  const keeping = recordsAt(place, false);
  const store = keeping.open();
  const now = Math.floor(Date.now() / 1000);
  await store?.put("test", { key: "kept", owner: "CN=Ann", made: now, ends: now + 60, content: {} }, 1);
  assert.equal(keeping.open(), store);
  const late = recordsAt(place, true);
  assert.equal(await has(late.open(), "kept"), true);
  for (const records of [early, keeping, late]) records.close();
  await Deno.remove(place, { recursive: true });
});

Deno.test("read-only Records do not need the folder", () => {
  const records = recordsAt("/nonexistent/data", true);
  assert.notEqual(records.open(), undefined);
  records.close();
});

Deno.test("Records without a folder store nothing, except for callers that need records while the service runs", () => {
  const records = recordsAt(undefined, false);
  assert.equal(records.open(), undefined);
  const store = records.openAnyway();
  assert.equal(records.openAnyway(), store);
  assert.equal(records.open(), undefined);
  records.close();
});
