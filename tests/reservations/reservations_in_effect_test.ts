/** Limits of a service that follows a file of reservations, which an operator changes. */
import assert from "node:assert/strict";
import { until } from "../fixtures/deadline.ts";
import { SILENT } from "../../src/logging/logger.ts";
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

type Entry = Partial<typeof NIGHT>;

/** File of reservations, which does not exist yet, and the service's view of it. */
interface Opened {
  /** Writes the file with these reservations. */
  write(...reservations: readonly Entry[]): Promise<void>;
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
    const write = async (...reservations: readonly Entry[]) => {
      await Deno.writeTextFile(`${file}.new`, JSON.stringify({ reservations }));
      await Deno.rename(`${file}.new`, file);
    };
    const seen = (condition: () => boolean) => until(condition);
    try {
      await check({ write, registry, time, seen });
    } finally {
      registry.close();
      await Deno.remove(folder, { recursive: true });
    }
  });
}

fact("limit others from the first moment to the last, and nobody before and after", async (parts) => {
  const { write, registry, time, seen } = parts;
  await write(NIGHT);
  await seen(() => registry.list().length === 1);
  assert.deepEqual(registry.list(), [{
    name: "night",
    from: at("20:00"),
    to: at("23:00"),
    uids: ["ann", "ben"],
    rateLimit: 5 * 1024 * 1024,
    limitText: "5m",
  }]);
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
});

fact("end when they are removed", async ({ write, registry, time, seen }) => {
  await write(NIGHT, { ...NIGHT, name: "other", rateLimit: "1k" });
  time.now = at("21:00");
  await seen(() => registry.limitFor("cid") === 1024);
  await write(NIGHT);
  await seen(() => registry.limitFor("cid") === 5242880);
  await write();
  await seen(() => registry.limitFor("cid") === 0);
});

fact("limit to 10m if they name no limit, and the lowest limit applies", async (parts) => {
  const { write, registry, time, seen } = parts;
  const { rateLimit: _, ...night } = NIGHT;
  await write(night);
  time.now = at("21:00");
  await seen(() => registry.limitFor("cid") === 10 * 1024 * 1024);
  await write(night, { ...NIGHT, name: "free", uids: ["cid"], rateLimit: "0" });
  await seen(() => registry.limitFor("cid") === 0);
  assert.equal(registry.limitFor("dan"), 10 * 1024 * 1024, "0 limits nobody");
});

fact("keep names and accounts as they are, whatever characters they have", async (parts) => {
  const { write, registry, seen } = parts;
  const names = ["Ü ☃ 'x'; --", "__proto__", '"}],', ":clock", "a\nb", "%"];
  await write(...names.map((name) => ({ ...NIGHT, name, uids: [name, "$1"] })));
  await seen(() => registry.list().length === names.length);
  assert.deepEqual(registry.list().map(({ name }) => name), names);
  for (const { name, uids } of registry.list()) assert.deepEqual(uids, [name.trim(), "$1"]);
});
