import assert from "node:assert/strict";
import { Records } from "../../../src/service/assembly/open_database.ts";

Deno.test("Records.openPresent() gives what somebody has kept, and makes nothing where nobody has", async () => {
  const place = await Deno.makeTempDir();
  const looking = new Records(place, Date.now);
  assert.equal(looking.openPresent(), undefined);
  assert.deepEqual([...Deno.readDirSync(place)], []);
  const keeping = new Records(place, Date.now);
  const store = keeping.open();
  assert(store !== undefined);
  assert.equal(keeping.openPresent(), store);
  assert.notEqual(looking.openPresent(), undefined);
  assert.equal(looking.openPresent(), looking.open());
  for (const records of [keeping, looking]) records.close();
  await Deno.remove(place, { recursive: true });
});

Deno.test("Records without a place keep nothing, but for whoever needs records while the service lasts", () => {
  const records = new Records(undefined, Date.now);
  assert.equal(records.open(), undefined);
  assert.equal(records.openPresent(), undefined);
  const store = records.openAnyway();
  assert.equal(records.openAnyway(), store);
  assert.equal(records.openPresent(), store);
  records.close();
});
