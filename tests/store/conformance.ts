/** Tests that every store of records must pass. */
import { until } from "../fixtures/deadline.ts";
import assert from "node:assert/strict";
import type { Clock } from "../../src/model/clock.ts";
import type { RecordStore, StoredRecord } from "../../src/store/record_store.ts";

const NOW = 1_800_000_000;

export function record(key: string, more: Partial<StoredRecord> = {}): StoredRecord {
  return { key, owner: "cn=ann", made: NOW, ends: NOW + 100, content: { name: key }, ...more };
}

/** Function that opens a store; `another` opens a second one on the same records. */
type Open = (
  clock: Clock,
) => Promise<
  {
    readonly store: RecordStore;
    readonly another: () => Promise<RecordStore>;
    readonly close: () => Promise<void> | void;
  }
>;

/** Registers the tests of a kind of store. */
export function testRecordStore(name: string, open: Open): void {
  const test = (
    what: string,
    check: (
      store: RecordStore,
      more: { later(seconds: number): void; another(): Promise<RecordStore> },
    ) => Promise<void>,
  ) =>
    Deno.test(`${name} ${what}`, async () => {
      let now = NOW;
      const { store, another, close } = await open(() => now * 1000 + 999);
      try {
        await check(store, { later: (seconds) => now += seconds, another });
      } finally {
        await close();
      }
    });

  test("returns records by key, by owner and all, oldest first", async (store) => {
    const [one, two, others] = [
      record("one", { made: NOW + 1 }),
      record("two"),
      record("three", { owner: "cn=bob" }),
    ];
    for (const each of [one, two, others]) await store.put("token", each, 9);
    assert.deepEqual(await store.get("token", "one"), one);
    assert.equal(await store.get("token", "none"), undefined);
    assert.equal(await store.get("certificate", "one"), undefined);
    assert.deepEqual((await store.list("token", "cn=ann")).map(({ key }) => key), ["two", "one"]);
    assert.deepEqual((await store.list("token")).map(({ key }) => key), ["three", "two", "one"]);
    assert.deepEqual(await store.list("certificate"), []);
  });

  test("raises a bound, and never lowers it, in any order", async (store, { another }) => {
    const [low, high] = [
      record("all", { made: 5, ends: NOW + 9, content: 5 }),
      record("all", { made: 7, content: 7 }),
    ];
    const expected = { ...high, ends: NOW + 100 };
    assert.deepEqual(await store.raise("bound", high), high);
    for (const each of [store, await another()]) {
      assert.deepEqual(await each.raise("bound", low), expected);
      assert.deepEqual(await each.get("bound", "all"), expected);
    }
    assert.deepEqual(await store.raise("bound", { ...low, made: 8, ends: NOW + 1 }), {
      ...expected,
      made: 8,
      content: 5,
    });
  });

  test("replaces the record with the same key", async (store) => {
    await store.put("token", record("one"), 9);
    await store.put("token", record("one", { owner: "cn=bob", content: [1] }), 9);
    assert.deepEqual(await store.list("token"), [record("one", { owner: "cn=bob", content: [1] })]);
  });

  test("drops the record that ends first if an owner has too many, but never the new one", async (store) => {
    for (const [key, ends] of [["a", 50], ["b", 90], ["c", 70], ["d", 10]] as const) {
      await store.put("token", record(key, { ends: NOW + ends }), 3);
    }
    await store.put("token", record("other", { owner: "cn=bob" }), 3);
    assert.deepEqual((await store.list("token", "cn=ann")).map(({ key }) => key), ["b", "c", "d"]);
    assert.equal((await store.list("token", "cn=bob")).length, 1);
  });

  test("hides and deletes expired records", async (store, { later }) => {
    await store.put("token", record("short", { ends: NOW + 10 }), 9);
    await store.put("token", record("long"), 9);
    later(9);
    assert.equal((await store.list("token")).length, 2);
    assert.equal(await store.purge(), 0);
    later(1);
    assert.equal(await store.get("token", "short"), undefined);
    assert.equal(await store.remove("token", "short"), false);
    assert.deepEqual((await store.list("token")).map(({ key }) => key), ["long"]);
    assert.equal(await store.purge(), 1);
  });

  test("removes by key and by owner, and reports whether and how many", async (store) => {
    for (const key of ["a", "b", "c"]) await store.put("token", record(key), 9);
    await store.put("token", record("other", { owner: "cn=bob" }), 9);
    assert.deepEqual([await store.remove("token", "a"), await store.remove("token", "a")], [true, false]);
    assert.equal(await store.removeOf("token", "cn=ann"), 2);
    assert.deepEqual((await store.list("token")).map(({ key }) => key), ["other"]);
  });

  test("removes only those records of an owner that were made before a time", async (store) => {
    const { made } = record("a");
    for (const [key, later] of [["a", -1], ["b", 0], ["c", 1]] as const) {
      await store.put("token", record(key, { made: made + later }), 9);
    }
    assert.equal(await store.removeOf("token", "cn=ann", made), 1);
    assert.deepEqual((await store.list("token")).map(({ key }) => key), ["b", "c"]);
  });

  test(
    "changes its version after a change, here or in another store",
    async (store, { another }) => {
      const other = await another();
      const before = store.version();
      await store.put("token", record("here"), 9);
      const after = store.version();
      assert.notEqual(after, before);
      await other.put("token", record("there"), 9);
      await until(() => store.version() !== after, { everyMs: 1 }); // the notification may arrive later
      assert.equal((await store.list("token")).length, 2);
      assert.equal((await other.list("token")).length, 2);
      other.close();
    },
  );

  test("keeps names that look like SQL, and text of any script", async (store) => {
    const hostile = record("k'; DROP TABLE record; --", {
      owner: "CN=Ü ☃ \u{1f511}",
      content: { "__proto__": "x", text: "\u2028" },
    });
    await store.put("token", hostile, 1);
    assert.deepEqual(await store.list("token", hostile.owner), [hostile]);
  });
}
