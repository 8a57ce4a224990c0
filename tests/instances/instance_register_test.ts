import assert from "node:assert/strict";
import { InstanceRegister } from "../../src/instances/instance_register.ts";
import INSTANCE_TABLES from "../../src/store/postgres/tables/instance.sql" with { type: "text" };
import { createLogger } from "../../src/logging/logger.ts";
import { type Database, DatabaseUnavailable } from "../../src/store/database.ts";
import { IN_MEMORY, SqliteDatabase } from "../../src/store/sqlite_database.ts";

const SCHEMA = {
  what: "instances",
  applicationId: 0x54657374,
  steps: [INSTANCE_TABLES.replaceAll("UNLOGGED ", "")],
};

/** Returns a database in memory, registers in it, and timers that the test runs. */
function create() {
  const clock = { now: 1_700_000_000_000 };
  const memory = new SqliteDatabase(IN_MEMORY, SCHEMA, () => clock.now);
  const tasks = new Map<number, { readonly at: number; readonly task: () => void }>();
  const state = { away: false };
  let last = 0;
  const database: Database = {
    isOpen: true,
    read: (work) => memory.read(work),
    change: (work) => state.away ? Promise.reject(new DatabaseUnavailable("away")) : memory.change(work),
    version: () => 0,
    close: () => {},
  };
  const lines: string[] = [];
  const log = createLogger((line) => lines.push(line));
  const schedule = (ms: number, task: () => void) => {
    const id = ++last;
    tasks.set(id, { at: clock.now + ms, task });
    return () => tasks.delete(id);
  };
  return {
    clock,
    state,
    lines,
    log,
    schedule,
    register: (name: string, configuration = "one", version = "1.0", id = `id of ${name}`) =>
      new InstanceRegister({
        database,
        log,
        schedule,
        own: { id, name, version, configuration, upSince: clock.now },
      }),
    async later(ms: number) {
      for (const end = clock.now + ms; clock.now < end;) {
        clock.now += 500;
        for (const [id, { at, task }] of [...tasks]) if (at <= clock.now && tasks.delete(id)) task();
        for (let i = 0; i < 20; i++) await Promise.resolve();
      }
    },
  };
}

const names = ({ known }: InstanceRegister) =>
  known.map(({ name, alive, own }) => `${name}${alive ? "" : " silent"}${own ? " own" : ""}`);

Deno.test("InstanceRegister lists live and silent instances, and forgets those that have long been silent", async () => {
  const { register, later } = create();
  const [one, two] = [register("a:1"), register("b:1")];
  assert.deepEqual(names(one), ["a:1 own"]);
  await one.start();
  await two.start();
  await later(5000);
  assert.deepEqual(names(one), ["a:1 own", "b:1"]);
  assert.deepEqual([one.alive, two.alive], [2, 2]);
  two.close();
  await later(20_000);
  assert.deepEqual(names(one), ["a:1 own", "b:1 silent"]);
  assert.equal(one.alive, 1);
  await later(3600_000);
  assert.deepEqual(names(one), ["a:1 own"]);
  one.close();
});

Deno.test("InstanceRegister forgets a silent instance once another serves at its host and port", async () => {
  const { register, later } = create();
  const [one, killed] = [register("a:1"), register("b:1")];
  for (const each of [one, killed]) await each.start();
  killed.close();
  await later(20_000);
  assert.deepEqual(names(one), ["a:1 own", "b:1 silent"]);
  const next = register("b:1", "one", "1.0", "id of the next");
  await next.start();
  await later(5000);
  assert.deepEqual([one, next].map(names), [["a:1 own", "b:1"], ["a:1", "b:1 own"]]);
  for (const each of [one, next]) each.close();
});

Deno.test("InstanceRegister forgets an instance as soon as it leaves", async () => {
  const { register, later } = create();
  const [one, two] = [register("a:1"), register("b:1")];
  await Promise.all([one.start(), two.start()]);
  await two.leave();
  await later(5000);
  assert.deepEqual(names(one), ["a:1 own"]);
  one.close();
});

Deno.test("InstanceRegister warns once when instances of one version have different configurations", async () => {
  const { register, later, lines } = create();
  const one = register("a:1");
  const [other, older] = [register("b:1", "two"), register("c:1", "three", "0.9")];
  await older.start();
  await one.start();
  await later(5000);
  assert.deepEqual([one.differ, older.differ], [false, false], "versions may write it differently");
  await other.start();
  await later(15_000);
  assert.deepEqual([one.differ, other.differ, older.differ], [true, true, false]);
  const told = lines.filter((line) => line.includes("instances have different configurations"));
  assert.equal(told.length, 2, "each of the two, once");
  assert.match(told.join(), /names="?b:1/);
  for (const each of [one, other, older]) each.close();
});

Deno.test("InstanceRegister keeps its list while the database is unavailable", async () => {
  const { register, later, state } = create();
  const [one, two] = [register("a:1"), register("b:1")];
  await Promise.all([one.start(), two.start()]);
  await later(5000);
  state.away = true;
  await later(60_000);
  assert.deepEqual([names(one), one.alive], [["a:1 own", "b:1"], 2]);
  state.away = false;
  await later(5000);
  assert.equal(one.alive, 2);
  for (const each of [one, two]) each.close();
});

Deno.test("InstanceRegister reports how long ago each instance was seen", async () => {
  const { register, later } = create();
  const ages = ({ known }: InstanceRegister) => known.map(({ name, ageMs }) => `${name} ${ageMs}`);
  const [one, two] = [register("a:1"), register("b:1")];
  assert.deepEqual(ages(one), ["a:1 0"], "before its first look it knows itself alone");
  await two.start();
  two.close();
  await one.start();
  assert.deepEqual(ages(one), ["a:1 0", "b:1 0"]);
  await later(5000);
  assert.deepEqual(ages(one), ["a:1 0", "b:1 5000"]);
  one.close();
});

Deno.test("InstanceRegister reports an instance as silent once it was not seen for 17 s", async () => {
  const { register, later } = create();
  const [one, two] = [register("a:1"), register("b:1")];
  await one.start();
  await later(3000);
  await two.start();
  two.close();
  await later(16_500);
  assert.deepEqual(names(one), ["a:1 own", "b:1"]);
  await later(500);
  assert.deepEqual(one.known.map(({ ageMs, alive }) => [ageMs, alive]), [[0, true], [17_000, false]]);
  one.close();
});

Deno.test("InstanceRegister logs failures, except an unavailable database, which other code logs", async () => {
  const { register, state, lines } = create();
  const one = register("a:1");
  state.away = true;
  await one.start();
  assert.deepEqual(lines, []);
  one.close();
  state.away = false;
  const nameless = register("no\0name");
  await nameless.start();
  assert.equal(lines.length, 1);
  assert.match(lines[0] ?? "", /ERROR.*instances are not known/i);
  nameless.close();
});

Deno.test("InstanceRegister does not register again after it left, and reports a failure to leave", async () => {
  const { register, later, state } = create();
  const [one, two] = [register("a:1"), register("b:1")];
  await Promise.all([one.start(), two.start()]);
  await two.leave();
  await later(60_000);
  assert.deepEqual(names(one), ["a:1 own"]);
  state.away = true;
  await assert.rejects(one.leave(), DatabaseUnavailable);
});

Deno.test("InstanceRegister lists instances by name, then by start, and detects one that differs", async () => {
  const { register, later, clock } = create();
  const first = register("b:1", "one", "1.0", "x");
  clock.now += 1000;
  const second = register("b:1", "other", "1.0", "y");
  const third = register("a:1", "one", "1.0", "z");
  // The database lists the first one to follow first.
  for (const register of [second, third, first]) await register.start();
  await later(10_000);
  for (const { known } of [first, second, third]) {
    assert.deepEqual(known.map(({ id }) => id), ["z", "x", "y"]);
  }
  assert.deepEqual([first.differ, second.differ, third.differ], [true, true, true]);
  for (const register of [first, second, third]) register.close();
});
