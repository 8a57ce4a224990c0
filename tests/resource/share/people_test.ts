import assert from "node:assert/strict";
import { People } from "../../../src/resource/share/people.ts";
import { openRecordStore } from "../../../src/store/sqlite_record_store.ts";

Deno.test("People.checkRecipient() finds nobody by a display name, which people choose themselves", async () => {
  const folder = await Deno.makeTempDir();
  const records = openRecordStore(`${folder}/records.sqlite`, Date.now);
  try {
    const people = new People(() => records, Date.now, (dn) => dn.replace("CN=", ""));
    const [victim, thief] = ["CN=ann,O=Site", "CN=eve,O=Site"];
    const refusal = (text: string) =>
      people.checkRecipient(text).then(() => "none", (error: Error) => error.message);
    await people.remember({ dn: thief, displayName: victim });
    assert.equal(await refusal(victim), "none", "a distinguished name stands for itself");
    assert.equal(await refusal("somebody else"), "none", "other texts are refused as before");
    await people.remember({ dn: thief, displayName: "Ann" });
    assert.match(await refusal(" ann "), /the distinguished name of the person you mean: CN=eve,O=Site$/);
    await people.remember({ dn: victim, displayName: "Ann" });
    assert.match(await refusal("Ann"), /the person you mean: CN=(ann|eve),O=Site; CN=(ann|eve),O=Site$/);
    for (let n = 0; n < 20; n++) await people.remember({ dn: `CN=ann${n},O=Site`, displayName: "Ann" });
    assert.match(await refusal("Ann"), /^[^;]*(; CN=\w+,O=Site){9}; …$/);
  } finally {
    records.close();
    await Deno.remove(folder, { recursive: true });
  }
});
