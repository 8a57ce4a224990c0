import assert from "node:assert/strict";
import { InvalidFile } from "../../src/model/diagnostic.ts";
import {
  FileReservationStore,
  ReservationNotChanged,
} from "../../src/reservations/file_reservation_store.ts";

const NIGHT = { name: "night", from: "2026-01-05 20:00", to: "2026-01-05 23:00", uids: ["ann"] };

async function folder(content?: string) {
  const path = await Deno.makeTempDir();
  const context = { file: `${path}/res.json`, zone: "UTC", now: Date.parse("2026-01-01T00:00:00Z") };
  const store = new FileReservationStore(context);
  if (content !== undefined) await Deno.writeTextFile(context.file, content);
  return {
    path,
    context,
    store,
    json: async (): Promise<unknown> => JSON.parse(await Deno.readTextFile(context.file)),
    names: async () => (await store.list()).reservations.map(({ name }) => name),
    [Symbol.asyncDispose]: () => Deno.remove(path, { recursive: true }),
  };
}

Deno.test("FileReservationStore.add() makes the file, with the entry as entered", async () => {
  await using made = await folder();
  assert.deepEqual(await made.store.list(), { reservations: [], diagnostics: [] });
  const { reservation, remarks } = await made.store.add(NIGHT);
  assert.deepEqual(remarks, []);
  assert.equal(reservation.rateLimit, 10485760);
  assert.equal(reservation.from, Date.parse("2026-01-05T20:00:00Z"));
  assert.deepEqual(await made.json(), { reservations: [NIGHT] });
});

Deno.test("FileReservationStore.add() and remove() keep everything else", async () => {
  const before = {
    comment: "by hand",
    reservations: [{ ...NIGHT, name: "old", contact: "x@site.example" }, { name: "broken", from: "?" }],
    more: { a: [1] },
  };
  await using made = await folder(`\ufeff${JSON.stringify(before)}`);
  await made.store.add({ ...NIGHT, rateLimit: "5M" });
  assert.deepEqual(await made.json(), {
    ...before,
    reservations: [...before.reservations, { ...NIGHT, rateLimit: "5M" }],
  });
  await made.store.remove("night");
  assert.deepEqual(await made.json(), before);
  await made.store.remove("broken");
  assert.deepEqual(await made.names(), ["old"]);
});

Deno.test("FileReservationStore.add() refuses a name that is taken, and entries that are not valid", async () => {
  await using made = await folder(JSON.stringify({ reservations: [NIGHT] }));
  const before = await Deno.readTextFile(made.context.file);
  await assert.rejects(made.store.add(NIGHT), ReservationNotChanged);
  await assert.rejects(made.store.add({ ...NIGHT, name: " " }), ReservationNotChanged);
  for (const wrong of [{ from: "now" }, { to: "2026-01-05 19:00" }, { rateLimit: "fast" }]) {
    await assert.rejects(
      made.store.add({ ...NIGHT, name: "new", ...wrong }),
      (error) => error instanceof InvalidFile && error.diagnostics.every(({ line }) => line === undefined),
    );
  }
  assert.equal(await Deno.readTextFile(made.context.file), before);
});

Deno.test("FileReservationStore.remove() needs a reservation of that name", async () => {
  await using made = await folder(JSON.stringify({ reservations: [NIGHT] }));
  await assert.rejects(made.store.remove("other"), ReservationNotChanged);
  await made.store.remove("night");
  assert.deepEqual(await made.names(), []);
});

Deno.test("FileReservationStore.add() does not touch a file that is not valid", async () => {
  for (const content of ["{", "[]", '{"reservations": 5}', '{"reservations": [], "reservations": []}']) {
    await using made = await folder(content);
    await assert.rejects(made.store.add(NIGHT), InvalidFile);
    assert.equal(await Deno.readTextFile(made.context.file), content);
  }
});

Deno.test("FileReservationStore.add() keeps mode and symbolic link, and leaves nothing behind", async () => {
  await using made = await folder(JSON.stringify({ reservations: [] }));
  const target = `${made.path}/target.json`;
  await Deno.rename(made.context.file, target);
  await Deno.chmod(target, 0o640);
  await Deno.symlink(target, made.context.file);
  await made.store.add(NIGHT);
  assert.ok((await Deno.lstat(made.context.file)).isSymlink);
  assert.equal(((await Deno.stat(target)).mode ?? 0) & 0o777, 0o640);
  assert.deepEqual(await made.names(), ["night"]);
  const left = [...Deno.readDirSync(made.path)].map(({ name }) => name).sort();
  assert.deepEqual(left, ["res.json", "target.json"]);
});

Deno.test(
  "FileReservationStore.add() keeps the owner of the file",
  { ignore: Deno.uid() !== 0 },
  async () => {
    await using made = await folder(JSON.stringify({ reservations: [] }));
    await Deno.chown(made.context.file, 12345, 54321);
    await made.store.add(NIGHT);
    const { uid, gid } = await Deno.stat(made.context.file);
    assert.deepEqual([uid, gid], [12345, 54321]);
  },
);

Deno.test("FileReservationStore.add() loses nothing when many are added at once", async () => {
  await using made = await folder();
  const names = Array.from({ length: 12 }, (_, i) => `n${i}`);
  await Promise.all(names.map((name) => made.store.add({ ...NIGHT, name })));
  assert.deepEqual((await made.names()).toSorted(), names.toSorted());
  assert.deepEqual([...Deno.readDirSync(made.path)].map(({ name }) => name), ["res.json"]);
});

Deno.test("readers of the file see the old or the new content, never a part", async () => {
  await using made = await folder(JSON.stringify({ reservations: [] }));
  let writing = true;
  let reads = 0;
  const reader = (async () => {
    for (; writing; reads++) {
      const value: unknown = JSON.parse(await Deno.readTextFile(made.context.file));
      assert.ok(typeof value === "object" && value !== null && "reservations" in value);
    }
  })();
  for (let i = 0; i < 30; i++) await made.store.add({ ...NIGHT, name: `n${i}` });
  writing = false;
  await reader;
  assert.ok(reads > 0);
  assert.equal((await made.names()).length, 30);
});
