import assert from "node:assert/strict";
import { setImmediate } from "node:timers/promises";
import { Sinks } from "../../src/logging/sink.ts";
import { SILENT } from "../../src/logging/logger.ts";
import { DESTINATIONS } from "../../src/notify/kinds.ts";
import { Notifications } from "../../src/notify/notifications.ts";
import { Recorder } from "../../src/notify/recorder.ts";
import { openShareStore } from "../../src/sharing/store/share_store.ts";
import { SHARE_SCHEMA } from "../../src/sharing/store/schema.ts";
import { DatabaseFailure, rows } from "../../src/store/database.ts";
import { IN_MEMORY, SqliteDatabase } from "../../src/store/sqlite_database.ts";
import { VirtualTime } from "../fixtures/virtual_time.ts";
import { DRAFT, USE } from "../sharing/store/conformance.ts";

const [webhook = assert.fail()] = await Promise.all(DESTINATIONS.kinds.map(async ({ load }) => {
  const kind = await load();
  return { sort: "notification", config: { kind: kind.name, name: kind.name }, kind };
}));

function create() {
  const time = new VirtualTime();
  const database = new SqliteDatabase(IN_MEMORY, SHARE_SCHEMA, time.clock);
  const sinks = new Sinks(SILENT);
  const recorder = new Recorder([webhook], sinks);
  const notifications = new Notifications(recorder, database, sinks, time.schedule);
  const told = async () => {
    await notifications.close();
    const found = await database.read(() => rows("SELECT content FROM notification ORDER BY number", {}));
    return found.map(({ content }) => JSON.parse(String(content)));
  };
  return { database, sinks, notifications, told, time };
}

Deno.test("Notifications reports bans by operators, and their ends", async () => {
  const { notifications, told } = create();
  notifications.ban("ban.created", { user: "eve", until: "2026-01-06T00:00:00Z" });
  notifications.ban("ban.lifted", { user: "eve" });
  assert.deepEqual(await told(), [
    { type: "ban.created", data: { user: "eve", until: "2026-01-06T00:00:00Z" } },
    { type: "ban.lifted", data: { user: "eve" } },
  ]);
});

Deno.test("Notifications reports when a daemon goes down and comes back, not when it was up all the time", async () => {
  const { notifications, told } = create();
  for (const reason of [undefined, undefined, "no way", "no way", undefined]) {
    notifications.daemon("hpc:64435", reason);
  }
  assert.deepEqual(await told(), [
    { type: "daemon.down", data: { daemon: "hpc:64435", reason: "no way" } },
    { type: "daemon.up", data: { daemon: "hpc:64435" } },
  ]);
});

Deno.test("Notifications records events in order once the database takes changes again", async () => {
  const { notifications, database, sinks, told, time } = create();
  Object.assign(database, { change: () => Promise.reject(new DatabaseFailure("away")) });
  notifications.daemon("hpc:64435", "no way");
  notifications.daemon("hpc:64435", undefined);
  notifications.ban("ban.created", { user: "eve" });
  await setImmediate();
  await time.advance(60_000, setImmediate);
  assert.match(sinks.states[0]?.failure?.reason ?? "", /away/);
  Reflect.deleteProperty(database, "change");
  await time.advance(5000, setImmediate);
  assert.deepEqual((await told()).map(({ type }) => type), ["daemon.down", "daemon.up", "ban.created"]);
  assert.deepEqual(sinks.states.map(({ lost }) => lost), [0]);
});

Deno.test("Notifications is not failing after an outage in which no state changed", async () => {
  const { notifications, database, sinks, told, time } = create();
  Object.assign(database, { change: () => Promise.reject(new DatabaseFailure("away")) });
  notifications.daemon("hpc:64435", undefined);
  await setImmediate();
  assert.match(sinks.states[0]?.failure?.reason ?? "", /away/);
  Reflect.deleteProperty(database, "change");
  await time.advance(5000, setImmediate);
  assert.deepEqual(await told(), []);
  assert.deepEqual(sinks.states, [{ name: "webhook", lost: 0 }]);
});

Deno.test("Notifications tries once more at the end, and keeps nobody waiting for a database that is down", async () => {
  const { notifications, database, sinks, time } = create();
  let tries = 0;
  Object.assign(database, { change: () => Promise.reject(new DatabaseFailure(`away ${++tries}`)) });
  for (const user of ["ann", "bob", "eve"]) notifications.ban("ban.created", { user });
  await setImmediate();
  await time.advance(5000, setImmediate);
  assert.equal(tries, 2);
  await notifications.close();
  assert.equal(tries, 3);
  assert.deepEqual(sinks.states.map(({ lost }) => lost), [3]);
});

Deno.test("Notifications counts events that cannot be recorded as lost", async () => {
  const { notifications, database, sinks } = create();
  database.close();
  notifications.ban("ban.created", { user: "eve" });
  await notifications.close();
  assert.deepEqual(sinks.states.map(({ name, lost }) => [name, lost]), [["webhook", 1]]);
});

async function sharing() {
  const file = await Deno.makeTempFile();
  const time = { now: 1_700_000_000_000 };
  const store = openShareStore(file, () => time.now, undefined, new Recorder([webhook]));
  const database = new SqliteDatabase(file, SHARE_SCHEMA, () => time.now);
  const told = async () => {
    const found = await database.change(() =>
      rows("DELETE FROM notification RETURNING number, stream, content", {})
    );
    return found.toSorted((a, b) => Number(a["number"]) - Number(b["number"]))
      .map(({ stream, content }) => ({ stream, ...JSON.parse(String(content)) }));
  };
  const types = async () =>
    (await told()).map(({ type, data }) => [type, data.reason ?? data.renewed ?? data.name]);
  return {
    ...{ time, store, told, types },
    async [Symbol.asyncDispose]() {
      store.close();
      database.close();
      await Deno.remove(file);
    },
  };
}

Deno.test("a share reports its beginning, use and end in one stream, and never its id or password", async () => {
  await using site = await sharing();
  const { store, told } = site;
  const { id } = await store.put("HPC", { ...DRAFT, usesLeft: 1, password: "$scrypt$…" });
  const claim = await store.claim("HPC", id, USE);
  assert.ok(claim);
  await store.finish(claim, { bytes: 3, complete: true });
  assert.equal(await store.remove("HPC", id), true, "it had ended before: no second end");
  const all = await told();
  assert.deepEqual(all.map(({ type }) => type), ["share.created", "share.used", "share.ended"]);
  assert.equal(new Set(all.map(({ stream }) => stream)).size, 1);
  assert.doesNotMatch(JSON.stringify(all), new RegExp(`${id}|scrypt`));
  assert.deepEqual(all[1]?.data, {
    ...{
      share: all[0]?.data.share,
      server: "HPC",
      owner: DRAFT.owner,
      account: "alice",
      target: DRAFT.target,
    },
    ...{
      path: "/data/d/",
      access: "READ",
      by: USE.who,
      client: "192.0.2.7",
      via: "HTTP-download",
      file: USE.path,
    },
  });
});

Deno.test("a share reports why it ended, once", async () => {
  await using site = await sharing();
  const { store, time, types } = site;
  const expiring = await store.put("HPC", { ...DRAFT, path: "/a", expires: time.now / 1000 + 5 });
  const removed = await store.put("HPC", { ...DRAFT, path: "/b" });
  await store.put("HPC", { ...DRAFT, path: "/b" });
  await store.put("HPC", { ...DRAFT, path: "/c" });
  await store.remove("HPC", removed.id);
  await store.removeByPath("HPC", DRAFT.owner, "/c", DRAFT.target);
  time.now += 60_000;
  await store.purge();
  await store.purge();
  assert.equal(await store.remove("HPC", expiring.id), false);
  const created = ["share.created", false];
  assert.deepEqual(await types(), [
    ...[created, created, ["share.created", true], created],
    ...[["share.ended", "removed"], ["share.ended", "removed"], ["share.ended", "expired"]],
  ]);
});

Deno.test("a use that is given back is not reported, and a continued use is reported once", async () => {
  await using site = await sharing();
  const { store, types } = site;
  const { id } = await store.put("HPC", { ...DRAFT, usesLeft: 1 });
  const claim = await store.claim("HPC", id, USE);
  assert.ok(claim);
  await store.release(claim);
  const continues = { version: "1", visitor: "v", ranged: true };
  const first = await store.claim("HPC", id, { ...USE, continues });
  assert.ok(first);
  await store.finish(first, { bytes: 1, complete: false });
  assert.equal((await store.claim("HPC", id, { ...USE, continues }))?.continued, true);
  assert.deepEqual(await types(), [["share.created", false], ["share.used", undefined], [
    "share.ended",
    "used up",
  ]]);
});

Deno.test("an arrived file is reported once, even if several requests finish it, and its pieces are not", async () => {
  await using site = await sharing();
  const { store, told, types } = site;
  const share = await store.put("HPC", { ...DRAFT, access: "DROP", mail: "ann@example.org", usesLeft: 9 });
  await types();
  const upload = (key: string) => ({
    ...{ server: "HPC", share: share.id, key, uid: "alice", part: `/data/d/${key}.part`, name: key },
    ...{ files: 1, bytes: 7, finished: false },
  });
  for (const key of ["one", "two", "gone"]) {
    const piece = await store.claim("HPC", share.id, { ...USE, kind: "HTTP-upload" });
    assert.ok(piece);
    await store.uploads.begin(upload(key), "me");
    await store.release(piece);
  }
  await store.uploads.setTarget(upload("one"), "me", "/data/d/one (2)");
  await store.uploads.finish(upload("one"), true);
  await store.uploads.finish(upload("one"), true);
  await store.uploads.finish(upload("one"), false);
  await store.uploads.finish(upload("two"), false);
  await store.uploads.delete(upload("gone"));
  const arrived = await told();
  assert.deepEqual(arrived.map(({ type, data: { name, bytes } }) => [type, name, bytes]), [
    ["files.arrived", "one (2)", 7],
    ["files.arrived", "two", 7],
  ]);
  assert.equal(arrived[0]?.mailTo, "ann@example.org");
  assert.equal(JSON.stringify(arrived[0]?.data).includes("ann@"), false, "no webhook gets the address");
  const inPlace = await store.claim("HPC", share.id, { ...USE, kind: "HTTP-upload", path: "/data/d/three" });
  assert.ok(inPlace);
  await store.finish(inPlace, { bytes: 5, complete: true, arrived: true });
  assert.deepEqual(await types(), [["files.arrived", "three"]]);
});
