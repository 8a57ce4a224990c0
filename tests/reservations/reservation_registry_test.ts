import { until } from "../fixtures/deadline.ts";
import assert from "node:assert/strict";
import { createLogger } from "../../src/logging/logger.ts";
import { hostZone, openReservationRegistry } from "../../src/reservations/reservation_registry.ts";
import { refusedFiles } from "../../src/watch/watched_file.ts";
import { NO_RESERVATIONS } from "../../src/reservations/reservation.ts";

const NIGHT = { name: "night", from: "2026-01-05 20:00", to: "2026-01-05 23:00", uids: ["ann"] };
const at = (text: string) => Date.parse(text);

/** Opens a registry on a file that the test can write, and records log lines that the test can wait for. */
async function open(content: unknown, { zone = "UTC" } = {}) {
  const folder = await Deno.makeTempDir();
  const file = `${folder}/reservations.json`;
  const time = { now: at("2026-01-05T12:00:00Z") };
  const lines: string[] = [];
  const log = createLogger((line) => {
    lines.push(line);
  });
  const write = (next: unknown) =>
    Deno.writeTextFile(file, typeof next === "string" ? next : JSON.stringify(next));
  if (content !== undefined) await write(content);
  const registry = await openReservationRegistry({
    file,
    timeZone: zone,
    clock: () => time.now,
    log,
    intervalMs: 10,
  }).catch(async (error) => {
    await Deno.remove(folder, { recursive: true });
    throw error;
  });
  const alive = setInterval(() => {}, 1000); // the watcher does not keep the process alive
  return {
    registry,
    file,
    time,
    lines,
    write,
    async logged(part: string): Promise<string> {
      await until(() => lines.some((line) => line.includes(part)), { what: `a log line with ${part}` });
      return lines.splice(0).join("\n");
    },
    [Symbol.asyncDispose]: async () => {
      registry.close();
      clearInterval(alive);
      await Deno.remove(folder, { recursive: true });
    },
  };
}

Deno.test("ReservationRegistry limits others while a reservation is active, and forgets it afterwards", async () => {
  await using made = await open({ reservations: [NIGHT] });
  const { registry, time } = made;
  const look = () => [
    registry.limitFor("ann"),
    registry.limitFor("bob"),
    registry.limitFor(undefined),
    registry.list().length,
  ];
  assert.deepEqual(look(), [0, 0, 0, 1]);
  assert.equal(registry.descriptionsFor("ann").length, 1);
  assert.deepEqual([registry.descriptionsFor("bob"), registry.descriptionsFor(undefined)], [[], []]);
  time.now = at("2026-01-05T20:00:00Z");
  assert.deepEqual(look(), [0, 10485760, 10485760, 1]);
  time.now = at("2026-01-05T23:00:00Z");
  assert.deepEqual(look(), [0, 0, 0, 0]);
  assert.deepEqual(registry.descriptionsFor("ann"), []);
});

Deno.test("ReservationRegistry reads times in its own zone", async () => {
  await using made = await open({ reservations: [NIGHT] }, { zone: "Asia/Tokyo" });
  made.time.now = at("2026-01-05T11:00:00Z");
  assert.equal(made.registry.limitFor("bob"), 10485760);
  assert.match(made.registry.descriptionsFor("ann")[0] ?? "", /from=Mon Jan 05 20:00:00 \S+ 2026/);
});

Deno.test("ReservationRegistry starts without a file, and reloads a file that appears, changes or disappears", async () => {
  await using made = await open(undefined);
  const { registry, file, time } = made;
  time.now = at("2026-01-05T21:00:00Z");
  assert.equal(registry.limitFor("bob"), 0);
  await made.write({ reservations: [NIGHT] });
  await made.logged("file read again");
  assert.equal(registry.limitFor("bob"), 10485760);
  await made.write({ reservations: [{ ...NIGHT, rateLimit: "1k" }] });
  await made.logged("file read again");
  assert.equal(registry.limitFor("bob"), 1024);
  await Deno.remove(file);
  await made.logged("file read again");
  assert.equal(registry.limitFor("bob"), 0);
});

Deno.test("ReservationRegistry keeps the last good reservations while the file is broken, and names a bad entry", async () => {
  await using made = await open({ reservations: [NIGHT] });
  made.time.now = at("2026-01-05T21:00:00Z");
  await made.write('{"reservations": [');
  await made.logged("last good content stays");
  assert.equal(made.registry.limitFor("bob"), 10485760);
  await made.write({ reservations: [{ ...NIGHT, name: "odd", to: "late" }, { ...NIGHT, rateLimit: "5k" }] });
  assert.match(
    await made.logged("file read again"),
    /reservation left out .*'odd' to = late: expected a time/,
  );
  assert.equal(made.registry.limitFor("bob"), 5120);
});

Deno.test("openReservationRegistry() starts without reservations if the file is broken, and reads a good one later", async () => {
  await using made = await open("{");
  const { registry, file } = made;
  assert.deepEqual(registry.list(), []);
  assert.deepEqual(refusedFiles(), [`${file}:1: expected a name in "quotes", found the end`]);
  assert.match(
    await made.logged("not usable"),
    /error file not usable, it counts as absent .*:1: expected a name/,
  );
  await made.write({ reservations: [NIGHT] });
  await made.logged("file read again");
  assert.equal(registry.list().length, 1);
  assert.deepEqual(refusedFiles(), []);
});

Deno.test("openReservationRegistry() reads files of 4 MiB, and no larger ones", async () => {
  const most = JSON.stringify({ reservations: [NIGHT] }).padEnd(4 * 1024 ** 2);
  await using made = await open(most);
  assert.equal(made.registry.list().length, 1);
  await using larger = await open(`${most} `);
  assert.deepEqual(larger.registry.list(), []);
  assert.match(refusedFiles().join("\n"), /expected at most 4194304$/);
});

Deno.test("hostZone() names a time zone", () =>
  assert.doesNotThrow(() => Temporal.Now.zonedDateTimeISO(hostZone())));

Deno.test("NO_RESERVATIONS limits nobody", () => {
  assert.deepEqual([
    NO_RESERVATIONS.limitFor("a"),
    NO_RESERVATIONS.descriptionsFor("a"),
    NO_RESERVATIONS.list(),
  ], [0, [], []]);
});
