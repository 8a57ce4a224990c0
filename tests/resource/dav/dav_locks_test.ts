import assert from "node:assert/strict";
import { DavLocks } from "../../../src/resource/dav/dav_locks.ts";
import { IN_MEMORY } from "../../../src/store/sqlite_database.ts";
import { openRecordStore } from "../../../src/store/sqlite_record_store.ts";

const ANN = { owner: "cn=ann", server: "HPC", uid: "ann" };
const FILE = { directory: false, deep: false, shared: false, note: "" };

function opened() {
  const records = openRecordStore(IN_MEMORY, Date.now);
  return { records, locks: new DavLocks(() => records, Date.now), [Symbol.dispose]: () => records.close() };
}

Deno.test("DavLocks refuses a second lock, unless both are shared", async () => {
  using at = opened();
  await at.locks.make(ANN, { ...FILE, path: "/a" }, null);
  await at.locks.make(ANN, { ...FILE, path: "/b", shared: true }, null);
  await at.locks.make(ANN, { ...FILE, path: "/b", shared: true }, null);
  for (const [path, shared] of [["/a", false], ["/a", true], ["/b", false]] as const) {
    await assert.rejects(at.locks.make(ANN, { ...FILE, path, shared }, null), { code: "ERR_LOCKED" });
  }
});

Deno.test("DavLocks limits a user to 200 locks", async () => {
  using at = opened();
  const made = Math.floor(Date.now() / 1000);
  for (let i = 0; i < 200; i++) {
    const content = { server: "HPC", uid: "ann", path: `/${i}`, note: "" };
    await at.records.put("dav-lock", { key: `${i}`, owner: ANN.owner, made, ends: made + 600, content }, 300);
  }
  await assert.rejects(at.locks.make(ANN, { ...FILE, path: "/a" }, null), { code: "ERR_TOO_MANY_LOCKS" });
  await at.locks.make({ ...ANN, owner: "cn=ben" }, { ...FILE, path: "/a" }, null);
});
