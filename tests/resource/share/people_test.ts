import assert from "node:assert/strict";
import { People } from "../../../src/resource/share/people.ts";
import { openRecordStore } from "../../../src/store/sqlite_record_store.ts";

Deno.test("People.find() takes a distinguished name for itself, whatever others call themselves", async () => {
  const folder = await Deno.makeTempDir();
  const records = openRecordStore(`${folder}/records.sqlite`, Date.now);
  try {
    const people = new People(() => records, Date.now, (dn) => dn.replace("CN=", ""));
    const [victim, thief] = ["CN=ann,O=Site", "CN=eve,O=Site"];
    await people.remember({ dn: thief, displayName: victim });
    assert.equal(await people.find(victim), victim);
    assert.equal(await people.find("somebody else"), "somebody else");
    await people.remember({ dn: thief, displayName: "Ann" });
    await people.remember({ dn: victim, displayName: "Ann" });
    await assert.rejects(people.find("ann"), /Several people have this name, write one of: .*CN=ann,O=Site/);
  } finally {
    records.close();
    await Deno.remove(folder, { recursive: true });
  }
});
