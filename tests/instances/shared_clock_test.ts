import assert from "node:assert/strict";
import { SharedClock } from "../../src/instances/shared_clock.ts";
import { createLogger } from "../../src/logging/logger.ts";
import { type Database, DatabaseFailure } from "../../src/store/database.ts";
import { IN_MEMORY, SqliteDatabase } from "../../src/store/sqlite_database.ts";

const SCHEMA = { what: "clock", applicationId: 0x54657374, steps: [] };
const NOON = Date.parse("2026-01-05T12:00:00Z");
const HOUR = 3600_000;

/** Returns a machine whose clock the test sets, and a database with its own clock. */
function machine(behindMs?: number) {
  const learned: number[] = [];
  const time = { own: NOON, database: NOON, elapsed: 0 };
  const sqlite = new SqliteDatabase(IN_MEMORY, SCHEMA, () => time.database);
  let away = false;
  /** Latency of the request to the database and of its reply, in milliseconds. */
  let ways: readonly [number, number] = [0, 0];
  const spend = (ms: number) => {
    time.elapsed += ms;
    time.database += ms;
  };
  const database: Database = {
    isOpen: true,
    async read(work) {
      if (away) throw new DatabaseFailure("away");
      spend(ways[0]);
      const result = await sqlite.read(work);
      spend(ways[1]);
      return result;
    },
    change: (work) => sqlite.change(work),
    version: () => 0,
    close: () => sqlite.close(),
  };
  const lines: string[] = [];
  const pauses = new Set<number>();
  let turn: (() => void) | undefined;
  const clock = new SharedClock({
    database,
    clock: () => time.own,
    elapsed: () => time.elapsed,
    behindMs,
    learned: (behindMs) => learned.push(behindMs),
    log: createLogger((line) => lines.push(line)),
    schedule: (ms, task) => {
      pauses.add(ms);
      turn = task;
      return () => turn = undefined;
    },
  });
  return {
    clock,
    time,
    lines,
    pauses,
    learned,
    leave: (isAway: boolean) => away = isAway,
    delay: (there: number, back: number) => ways = [there, back],
    async turn() {
      turn?.();
      for (let i = 0; i < 10; i++) await Promise.resolve();
    },
    isFollowed: () => turn !== undefined,
    [Symbol.dispose]: () => {
      clock.close();
      database.close();
    },
  };
}

Deno.test("SharedClock returns the database's time, and advances evenly even if the machine's clock jumps", async () => {
  using made = machine();
  const { clock, time } = made;
  time.own += 5 * HOUR;
  await clock.start();
  assert.equal(clock.read(), NOON);
  time.elapsed += 2500.7;
  time.own -= 9 * HOUR;
  assert.equal(clock.read(), NOON + 2500);
  time.database = NOON + 4000;
  await made.turn();
  assert.equal(clock.read(), NOON + 4000);
});

Deno.test("SharedClock returns this machine's time until it reaches the database, and continues during a later outage", async () => {
  using made = machine();
  const { clock, time } = made;
  time.own += HOUR;
  made.leave(true);
  await clock.start();
  assert.equal(clock.read(), NOON + HOUR);
  made.leave(false);
  await made.turn();
  assert.equal(clock.read(), NOON);
  made.leave(true);
  time.elapsed += 60_000;
  await made.turn();
  assert.equal(clock.read(), NOON + 60_000);
});

Deno.test("SharedClock stays correct when the request or the reply is slow, and follows a changed database clock", async () => {
  using made = machine();
  const { clock, time } = made;
  await clock.start();
  for (const [there, back] of [[3000, 0], [0, 3000], [50, 0]] as const) {
    made.delay(there, back);
    await made.turn();
    assert.equal(clock.read(), time.database, `${there} ms there, ${back} ms back`);
  }
  made.delay(0, 30);
  await made.turn();
  assert.equal(clock.read(), time.database - 15, "as good as can be told");
  time.database += HOUR;
  made.delay(500, 500);
  await made.turn();
  assert.equal(clock.read(), time.database);
});

Deno.test("SharedClock uses a late first reply until a better one arrives", async () => {
  using made = machine();
  const { clock, time } = made;
  for (const back of [2000, 900, 1500]) {
    made.delay(0, back);
    await (back === 2000 ? clock.start() : made.turn());
    assert.equal(time.database - clock.read(), back === 2000 ? 1000 : 450);
  }
});

Deno.test("SharedClock uses the offset of its predecessor while the database is unavailable", async () => {
  using before = machine();
  before.time.own = NOON + HOUR;
  await before.clock.start();
  assert.deepEqual(before.learned, [-HOUR]);
  using made = machine(before.learned[0]);
  made.leave(true);
  await made.clock.start();
  assert.equal(made.clock.read(), NOON - HOUR);
  made.time.own += 3 * HOUR;
  made.time.elapsed += 500;
  assert.equal(made.clock.read(), NOON - HOUR + 500);
  made.leave(false);
  await made.turn();
  assert.equal(made.clock.read(), NOON);
});

Deno.test("SharedClock warns once about a wrong clock, and stops its queries when it is closed", async () => {
  using made = machine();
  const { clock, time, lines } = made;
  await clock.start();
  time.own = NOON - 2 * HOUR;
  await made.turn();
  await made.turn();
  assert.equal(lines.length, 1);
  assert.match(lines[0] ?? "", /this machine's clock is behind the database's.* seconds=7200/);
  time.own = NOON;
  await made.turn();
  time.own = NOON + HOUR;
  await made.turn();
  assert.match(lines[1] ?? "", /clock is ahead of the database's.* seconds=3600/);
  assert.equal(lines.length, 2);
  clock.close();
  assert.ok(!made.isFollowed());
});

Deno.test("SharedClock queries the database every 15 seconds, and warns if the clock is off by more than half a minute", async () => {
  using made = machine();
  const { clock, time, lines, pauses } = made;
  await clock.start();
  for (const off of [-30_000, 30_000]) {
    time.own = NOON + off;
    await made.turn();
  }
  assert.deepEqual(lines, []);
  time.own = NOON + 30_001;
  await made.turn();
  assert.match(lines.join(), /clock is ahead of the database's.* seconds=30/);
  assert.deepEqual([...pauses], [15_000]);
});
