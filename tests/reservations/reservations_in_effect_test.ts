/** From the file that an operator changes to the limits of the service that follows the file. */
import assert from "node:assert/strict";
import { until } from "../fixtures/deadline.ts";
import { SILENT } from "../../src/logging/logger.ts";
import { InvalidFile } from "../../src/model/diagnostic.ts";
import {
  FileReservationStore,
  ReservationNotChanged,
} from "../../src/reservations/file_reservation_store.ts";
import { openReservationRegistry } from "../../src/reservations/reservation_registry.ts";
import { type ReservationRegistry } from "../../src/reservations/reservation.ts";

const ZONE = "Europe/Berlin";

const NIGHT = {
  name: "night",
  from: "2026-01-05 20:00",
  to: "2026-01-05 23:00",
  uids: ["ann", "ben"],
  rateLimit: "5m",
};
const at = (text: string) => Date.parse(`2026-01-05T${text}:00+0100`);

/** A file without reservations, its editor, and the service's view of it. */
interface Opened {
  readonly store: FileReservationStore;
  readonly registry: ReservationRegistry;
  readonly time: { now: number };
  /** Waits until the service knows of a change. */
  seen(condition: () => boolean): Promise<void>;
}

function fact(title: string, check: (opened: Opened) => Promise<void>): void {
  Deno.test(`reservations in a file ${title}`, async () => {
    const folder = await Deno.makeTempDir();
    const file = `${folder}/reservations.json`;
    const time = { now: at("12:00") };
    const clock = () => time.now;
    const registry = await openReservationRegistry({
      file,
      timeZone: ZONE,
      clock,
      log: SILENT,
      intervalMs: 10,
    });
    const store = new FileReservationStore({ file, zone: ZONE, now: clock() });
    const seen = (condition: () => boolean) => until(condition);
    try {
      await check({ store, registry, time, seen });
    } finally {
      registry.close();
      await Deno.remove(folder, { recursive: true });
    }
  });
}

fact("limit others from the first moment to the last, and nobody before and after", async (parts) => {
  const { store, registry, time, seen } = parts;
  const { reservation, remarks } = await store.add(NIGHT);
  assert.deepEqual(remarks, []);
  assert.deepEqual(reservation, {
    name: "night",
    from: at("20:00"),
    to: at("23:00"),
    uids: ["ann", "ben"],
    rateLimit: 5 * 1024 * 1024,
    limitText: "5m",
  });
  await seen(() => registry.list().length === 1);
  assert.deepEqual(registry.list(), [reservation]);
  const limits = () => ["ann", "cid", undefined].map((uid) => registry.limitFor(uid));
  assert.deepEqual(limits(), [0, 0, 0]);
  assert.deepEqual(registry.descriptionsFor("cid"), []);
  assert.match(
    registry.descriptionsFor("ann")[0] ?? "",
    /'night': users=\[ann, ben\] from=Mon Jan 05 20:00/,
  );
  time.now = at("20:00");
  assert.deepEqual(limits(), [0, 5242880, 5242880]);
  time.now = at("23:00") - 1;
  assert.deepEqual(limits(), [0, 5242880, 5242880]);
  time.now = at("23:00");
  assert.deepEqual([limits(), registry.list(), registry.descriptionsFor("ann")], [[0, 0, 0], [], []]);
  assert.deepEqual(
    await store.list(),
    { reservations: [reservation], diagnostics: [] },
    "it is still listed",
  );
});

fact("end when they are removed", async ({ store, registry, time, seen }) => {
  await store.add(NIGHT);
  await store.add({ ...NIGHT, name: "other", rateLimit: "1k" });
  time.now = at("21:00");
  await seen(() => registry.limitFor("cid") === 1024);
  await store.remove("other");
  await seen(() => registry.limitFor("cid") === 5242880);
  await assert.rejects(store.remove("other"), ReservationNotChanged);
  await store.remove("night");
  await seen(() => registry.limitFor("cid") === 0);
  assert.deepEqual((await store.list()).reservations, []);
});

fact(
  "limit by 10m where no limit is named, and let the lowest hold",
  async ({ store, registry, time, seen }) => {
    const { rateLimit: _, ...night } = NIGHT;
    await store.add(night);
    time.now = at("21:00");
    await seen(() => registry.limitFor("cid") === 10 * 1024 * 1024);
    await store.add({ ...NIGHT, name: "free", uids: ["cid"], rateLimit: "0" });
    await seen(() => registry.limitFor("cid") === 0);
    assert.equal(registry.limitFor("dan"), 10 * 1024 * 1024, "0 limits nobody");
  },
);

fact(
  "keep names and accounts as they are, whatever characters they have",
  async ({ store, registry, seen }) => {
    const names = ["Ü ☃ 'x'; --", "__proto__", '"}],', ":clock", "a\nb", "%"];
    for (const name of names) await store.add({ ...NIGHT, name, uids: [name, "$1"] });
    await seen(() => registry.list().length === names.length);
    assert.deepEqual(new Set(registry.list().map(({ name }) => name)), new Set(names));
    for (const { name, uids } of (await store.list()).reservations) {
      assert.deepEqual(uids, [
        name.trim(),
        "$1",
      ]);
    }
    for (const name of names) await store.remove(name);
    assert.deepEqual((await store.list()).reservations, []);
  },
);

fact(
  "are not added without a name, under one that is taken, or if they are not valid",
  async ({ store }) => {
    await store.add(NIGHT);
    await assert.rejects(store.add({ ...NIGHT, uids: ["cid"] }), ReservationNotChanged);
    await assert.rejects(store.add({ ...NIGHT, name: " " }), ReservationNotChanged);
    for (const wrong of [{ from: "now" }, { to: "2026-01-05 19:00" }, { rateLimit: "fast" }]) {
      await assert.rejects(
        store.add({ ...NIGHT, name: "new", ...wrong }),
        (error) => error instanceof InvalidFile && error.diagnostics.every(({ line }) => line === undefined),
      );
    }
    assert.equal((await store.list()).reservations.length, 1);
  },
);

fact("of one name are added once, however many try it at a time", async ({ store }) => {
  const tries = await Promise.allSettled(Array.from({ length: 8 }, () => store.add(NIGHT)));
  assert.equal(tries.filter(({ status }) => status === "fulfilled").length, 1);
  for (const result of tries) {
    if (result.status === "rejected") assert.ok(result.reason instanceof ReservationNotChanged);
  }
  assert.equal((await store.list()).reservations.length, 1);
});
