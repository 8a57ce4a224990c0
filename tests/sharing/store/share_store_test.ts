import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { setImmediate } from "node:timers/promises";
import { isShareId, newShareId } from "../../../src/sharing/share.ts";
import { UnknownDatabase } from "../../../src/store/sqlite_database.ts";
import { SQL } from "../../../src/sharing/store/share_sql.ts";
import { openShareStore } from "../../../src/sharing/store/share_store.ts";
import { DRAFT, MADE, testShareStore, USE } from "./conformance.ts";
import { assertAlike } from "../../fixtures/assert_alike.ts";
import { HeldDisk } from "../../fixtures/held_disk.ts";
import { allShares } from "./all_shares.ts";

testShareStore("openShareStore()", (clock) => {
  const folder = Deno.makeTempDirSync();
  const store = openShareStore(`${folder}/shares.sqlite`, clock);
  return {
    store,
    close: () => {
      store.close();
      Deno.removeSync(folder, { recursive: true });
    },
  };
});

async function inFolder(check: (file: string) => Promise<void> | void): Promise<void> {
  const folder = Deno.makeTempDirSync();
  try {
    await check(`${folder}/shares.sqlite`);
  } finally {
    Deno.removeSync(folder, { recursive: true });
  }
}

Deno.test("openShareStore() keeps everything when it opens the file again", () =>
  inFolder(async (file) => {
    const first = openShareStore(file, Date.now);
    const share = await first.put("A", DRAFT);
    await first.claim("A", share.id, USE);
    first.close();
    const second = openShareStore(file, Date.now);
    assert.deepEqual(await second.get("A", share.id), { ...share, accessCount: 1 });
    assert.equal((await second.usesOf("A", share.id, 9)).length, 1);
    second.close();
  }));

Deno.test("openShareStore() grants a one-time share once across two open stores", () =>
  inFolder(async (file) => {
    const [first, second] = [openShareStore(file, Date.now), openShareStore(file, Date.now)];
    const { id } = await first.put("A", { ...DRAFT, oneTime: true });
    const claims = await Promise.all(
      Array.from({ length: 40 }, (_, i) => (i % 2 === 0 ? first : second).claim("A", id, USE)),
    );
    assert.equal(claims.filter((claim) => claim !== undefined).length, 1);
    first.close();
    second.close();
  }));

Deno.test("openShareStore() creates a file that only its account can read", () =>
  inFolder(async (file) => {
    const store = openShareStore(file, Date.now);
    await store.put("A", DRAFT);
    for (const suffix of ["", "-wal"]) {
      assert.equal((Deno.statSync(file + suffix).mode ?? 0) & 0o777, 0o600, suffix);
    }
    store.close();
  }));

Deno.test("openShareStore() refuses the database of another program and of a newer version", () =>
  inFolder((file) => {
    const foreign = new DatabaseSync(file);
    foreign.exec("CREATE TABLE somebody_elses (a)");
    foreign.close();
    assert.throws(() => openShareStore(file, Date.now), UnknownDatabase);
    Deno.removeSync(file);
    openShareStore(file, Date.now).close();
    const newer = new DatabaseSync(file);
    newer.exec("PRAGMA user_version = 99");
    newer.close();
    assert.throws(() => openShareStore(file, Date.now), /schema version 99/);
  }));

Deno.test("openShareStore() upgrades a database of an older version, with all its contents", () =>
  inFolder(async (file) => {
    const older = new DatabaseSync(file);
    older.exec(await Deno.readTextFile(new URL("schema_v1.sql", import.meta.url)));
    older.close();
    const store = openShareStore(file, () => 1_700_000_200_000);
    assertAlike(await allShares(store), [
      {
        ...DRAFT,
        server: "HPC",
        id: "plain",
        access: "WRITE",
        usesLeft: undefined,
        accessCount: 3,
        created: 1_700_000_000_000,
      },
      {
        ...DRAFT,
        server: "HPC",
        id: "usedUp",
        path: "/data/e",
        target: "cn=bob",
        gid: undefined,
        oneTime: true,
        usesLeft: 0,
        expires: 4_000_000_000,
        sources: ["10.0.0.0/8"],
        accessCount: 1,
        created: 1_700_000_000_001,
      },
    ]);
    assert.equal((await store.usesOf("HPC", "usedUp", 9)).length, 1);
    const renewed = await store.put("HPC", { ...DRAFT, uid: "other", made: MADE });
    assert.equal(renewed.id, "plain");
    assert.deepEqual(renewed.made, { ...MADE, mappedGroup: false });
    store.close();
    openShareStore(file, Date.now).close();
  }));

Deno.test("openShareStore() syncs each change to disk before it returns", () =>
  inFolder(async (file) => {
    using disk = new HeldDisk();
    const store = openShareStore(file, Date.now);
    let acknowledged = false;
    const put = store.put("HPC", DRAFT).then(() => acknowledged = true);
    await setImmediate();
    assert.deepEqual([disk.calls, acknowledged], [1, false]);
    disk.end();
    await put;
    store.close();
  }));

Deno.test("queries for some shares of a server do not read all of them", () =>
  inFolder((file) => {
    openShareStore(file, Date.now).close();
    const database = new DatabaseSync(file);
    const all: ReadonlySet<string> = new Set(["insert", "servers", "listed", "count"]);
    for (const [name, sql] of Object.entries(SQL)) {
      if (all.has(name)) continue;
      const plan = database.prepare(`EXPLAIN QUERY PLAN ${sql}`).all().map(({ detail }) => String(detail));
      for (const step of plan.filter((step) => /^(?:SCAN|SEARCH) share_upload\b/.test(step))) {
        if (name === "dueUploads" || name === "terms") continue; // of all servers
        assert.match(step, /^SEARCH share_upload .* \(server=\? AND (?:share|target)=\?/, `${name}: ${step}`);
      }
      const reads = plan.filter((step) => /^(?:SCAN|SEARCH) share\b/.test(step));
      // Walks the servers: the first one, and then each next one.
      const walks = / share USING COVERING INDEX (?!.*\?)|\(server>\?\)$/;
      for (const step of reads.filter((step) => step.startsWith("SCAN") || !walks.test(step))) {
        if (/ INDEX (?:share_by_end|share_used_up) \(/.test(step)) continue; // all servers' shares to purge
        assert.match(step, / \(server=\? AND \w+(?:=\?|>\? AND \w+<\?)/, `${name}: ${step}`);
      }
    }
    database.close();
  }));

Deno.test("newShareId() uses the whole alphabet evenly and never repeats", () => {
  const ids = Array.from({ length: 5000 }, newShareId);
  assert.equal(new Set(ids).size, ids.length);
  const counts = new Map<string, number>();
  for (const id of ids) for (const c of id) counts.set(c, (counts.get(c) ?? 0) + 1);
  assert.equal(counts.size, 62);
  const expected = 5000 * 22 / 62;
  for (const [c, n] of counts) assert.ok(Math.abs(n - expected) < expected / 4, `${c}: ${n}`);
});

Deno.test("isShareId() accepts ids of all versions of the Java service, and nothing else", () => {
  for (const id of ["6QDHpBQFHM", "2aXf9Kq01bZ", newShareId(), "9268d578-3983-47f3-bdce-d271c8dc02eb"]) {
    assert(isShareId(id), id);
  }
  for (const id of ["", "a-b", "9268d578-3983-47f3-bdce-d271c8dc02e", "a".repeat(23), "..", "a/b", "a'b"]) {
    assert(!isShareId(id), id);
  }
});
