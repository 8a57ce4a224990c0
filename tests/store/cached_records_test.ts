import assert from "node:assert/strict";
import { SILENT } from "../../src/logging/logger.ts";
import { httpError, isHttpError } from "../../src/model/http_error.ts";
import type { RecordStore } from "../../src/store/record_store.ts";
import { CachedRecords } from "../../src/store/cached_records.ts";
import { IN_MEMORY } from "../../src/store/sqlite_database.ts";
import { openRecordStore } from "../../src/store/sqlite_record_store.ts";
import { record } from "./conformance.ts";

/** Returns one instance's view of a shared store, which may be down; the test runs its timers. */
function create() {
  const state = {
    now: 0.5,
    reachable: true,
    changes: 0,
    asked: 0,
    session: 1,
    reads: new Array<number | undefined>(),
  };
  const shared = openRecordStore(IN_MEMORY, () => 1_800_000_000_000);
  const gone = () => Promise.reject(httpError("ERR_RECORD_STORE", "away"));
  const asked = <T>(work: () => Promise<T>): Promise<T> => {
    state.asked++;
    return state.reachable ? work() : gone();
  };
  const store: RecordStore = {
    version: () => shared.version(),
    put: (...args) => asked(() => shared.put(...args)),
    raise: (...args) => asked(() => shared.raise(...args)),
    get: (...args) => asked(() => shared.get(...args)),
    list: (...args) => asked(() => shared.list(...args)),
    remove: (...args) => asked(() => shared.remove(...args)),
    removeOf: (...args) => asked(() => shared.removeOf(...args)),
    purge: () => shared.purge(),
    close: () => shared.close(),
  };
  let due: (() => void) | undefined;
  const cached = new CachedRecords(store, {
    kinds: ["revoked"],
    version: () => state.changes,
    isReachable: () => state.reachable,
    session: () => state.session,
    read: async (since) => {
      state.reads.push(since);
      const found = (await store.list("revoked")).map((record) => ({ kind: "revoked", record }));
      const until = found.length;
      return { records: found.slice(since), until, isComplete: since === undefined };
    },
    elapsed: () => state.now,
    log: SILENT,
    schedule: (_ms, task) => {
      due = task;
      return () => due = undefined;
    },
  });
  return {
    state,
    shared,
    cached,
    isFollowed: () => due !== undefined,
    async turn(ms = 100) {
      state.now += ms;
      due?.();
      for (let i = 0; i < 20; i++) await Promise.resolve();
    },
  };
}

Deno.test("CachedRecords answers from memory, and reads changes of other instances", async () => {
  const { state, shared, cached, turn, isFollowed } = create();
  await shared.put("revoked", record("one"), 9);
  await cached.start();
  assert.ok(isFollowed());
  const { asked } = state;
  assert.deepEqual(await cached.get("revoked", "one"), record("one"));
  assert.deepEqual(await cached.list("revoked", "cn=ann"), [record("one")]);
  assert.deepEqual(await cached.list("revoked", "cn=bob"), []);
  assert.equal(state.asked, asked);
  const before = cached.version();
  await shared.put("revoked", record("two", { owner: "cn=bob" }), 9);
  state.changes++;
  assert.equal(cached.staleMs, 1, "it was told, and has not read it yet");
  await turn();
  assert.deepEqual((await cached.list("revoked")).map(({ key }) => key), ["one", "two"]);
  assert.notEqual(cached.version(), before);
  assert.equal(cached.staleMs, 0);
  cached.close();
  assert.ok(!isFollowed());
});

Deno.test("CachedRecords sees its own changes at once", async () => {
  const { cached } = create();
  await cached.start();
  let version = cached.version();
  const changed = () => version !== (version = cached.version());
  await cached.put("revoked", record("one"), 9);
  await cached.put("revoked", record("two"), 9);
  assert.ok(changed());
  assert.equal((await cached.list("revoked", "cn=ann")).length, 2);
  assert.equal(await cached.remove("revoked", "one"), true);
  assert.ok(changed());
  assert.equal(await cached.get("revoked", "one"), undefined);
  assert.deepEqual((await cached.list("revoked", "cn=ann")).map(({ key }) => key), ["two"]);
  assert.equal(await cached.removeOf("revoked", "cn=ann"), 1);
  assert.deepEqual(await cached.list("revoked"), []);
  cached.close();
});

Deno.test("CachedRecords keeps a record that it puts while it reads all", async () => {
  const { cached, state, turn } = create();
  await cached.start();
  state.changes++;
  const reading = turn();
  await cached.put("revoked", record("one"), 9);
  await reading;
  assert.deepEqual(await cached.get("revoked", "one"), record("one"));
  cached.close();
});

Deno.test("CachedRecords answers from its last state while the store is down, and reports its age", async () => {
  const { cached, shared, state, turn } = create();
  await shared.put("revoked", record("one"), 9);
  await cached.start();
  state.reachable = false;
  await turn(30_000);
  assert.deepEqual(await cached.get("revoked", "one"), record("one"));
  assert.equal(cached.staleMs, 30_000);
  await assert.rejects(cached.get("token", "one"), (error) => isHttpError(error, "ERR_RECORD_STORE"));
  await assert.rejects(
    cached.put("revoked", record("two"), 9),
    (error) => isHttpError(error, "ERR_RECORD_STORE"),
  );
  assert.equal(await cached.get("revoked", "two"), undefined);
  await shared.put("revoked", record("three"), 9);
  state.reachable = true;
  state.changes++; // changes meanwhile are unknown
  await turn();
  assert.deepEqual((await cached.list("revoked")).map(({ key }) => key), ["one", "three"]);
  assert.equal(cached.staleMs, 0);
  cached.close();
});

Deno.test("CachedRecords answers nothing before its first successful read", async () => {
  const { cached, state, turn } = create();
  state.reachable = false;
  await cached.start();
  await turn();
  assert.equal(cached.staleMs, Infinity);
  await assert.rejects(cached.get("revoked", "one"), (error) => isHttpError(error, "ERR_RECORD_STORE"));
  await assert.rejects(cached.list("revoked"), (error) => isHttpError(error, "ERR_RECORD_STORE"));
  state.reachable = true;
  await turn();
  assert.equal(cached.staleMs, 0);
  cached.close();
});

Deno.test("CachedRecords reads the changes since its last read, and all after a new session or an hour", async () => {
  const { cached, shared, state, turn } = create();
  await shared.put("revoked", record("1"), 9);
  await cached.start();
  const change = async (key: string, ms = 100) => {
    await shared.put("revoked", record(key), 9);
    state.changes++;
    await turn(ms);
  };
  await change("2");
  await change("3");
  assert.deepEqual(state.reads, [undefined, 1, 2]);
  assert.equal((await cached.list("revoked")).length, 3);
  await shared.remove("revoked", "1");
  state.session++;
  await change("4");
  assert.deepEqual(state.reads.splice(3), [undefined]);
  assert.equal(await cached.get("revoked", "1"), undefined, "another server may have lost changes");
  await change("5", 3600_000);
  assert.deepEqual(state.reads.splice(3), [undefined]);
  await change("6");
  assert.deepEqual(state.reads.splice(3), [4]);
  cached.close();
});

Deno.test("CachedRecords keeps the later of two records, in any order of arrival", async () => {
  const { cached, shared, state, turn } = create();
  await cached.start();
  await cached.put("revoked", record("one", { made: 20 }), 9);
  await shared.put("revoked", record("one", { made: 10 }), 9);
  state.changes++;
  await turn();
  assert.equal((await cached.get("revoked", "one"))?.made, 20);
  cached.close();
});
