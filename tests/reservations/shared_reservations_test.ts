import assert from "node:assert/strict";
import { createLogger, SILENT } from "../../src/logging/logger.ts";
import { DatabaseReservationStore } from "../../src/reservations/database_reservation_store.ts";
import { type ReservationsKnown, SharedReservations } from "../../src/reservations/shared_reservations.ts";
import { type Database, DatabaseAway } from "../../src/store/database.ts";
import { PostgresDatabase } from "../../src/store/postgres/postgres_database.ts";
import { RESERVATION_TABLES } from "../../src/store/postgres/shared_tables.ts";
import { IN_MEMORY, SqliteDatabase } from "../../src/store/sqlite_database.ts";
import { POSTGRES, TestPostgres } from "../fixtures/postgres.ts";
import { testReservations, ZONE } from "./conformance.ts";

const SCHEMA = { what: "reservations", applicationId: 0x54657374, steps: [RESERVATION_TABLES] };
const NIGHT = { name: "night", from: "2026-01-05T20:00:00Z", to: "2026-01-05T23:00:00Z", uids: ["ann"] };
const TEN_MIB = 10 * 1024 * 1024;

/** The tables of the instances, in memory: whoever changes them is told of as another one would be. */
class CountedDatabase implements Database {
  readonly isOpen = true;
  away = false;
  /** Whether it can be read and not be changed. */
  readOnly = false;
  reads = 0;
  #changes = 0;
  readonly #database: SqliteDatabase;

  constructor(clock: () => number) {
    this.#database = new SqliteDatabase(IN_MEMORY, SCHEMA, clock);
  }

  read: Database["read"] = (work) => {
    this.reads++;
    return this.away ? Promise.reject(new DatabaseAway("away")) : this.#database.read(work);
  };

  change: Database["change"] = (work) => {
    this.#changes++;
    const refused = this.away || this.readOnly;
    return refused ? Promise.reject(new DatabaseAway("away")) : this.#database.change(work);
  };

  version(): number {
    return this.#changes;
  }

  close(): void {
    this.#database.close();
  }
}

/** An instance whose timers the test turns; `elapsed` is its own, `clock` that all go by. */
function instance(known?: ReservationsKnown) {
  const learned: ReservationsKnown[] = [];
  const [pauses, lines] = [new Set<number>(), new Array<string>()];
  const time = { clock: Date.parse("2026-01-05T12:00:00Z"), elapsed: 0 };
  const database = new CountedDatabase(() => time.clock);
  let task: (() => void) | undefined;
  const shared = new SharedReservations({
    database,
    elapsed: () => time.elapsed,
    clock: () => time.clock,
    known,
    learned: (all) => learned.push(all),
    log: createLogger((line) => lines.push(line)),
    schedule: (ms, next) => {
      pauses.add(ms);
      task = next;
      return () => task = undefined;
    },
  });
  const store = (server: string) =>
    new DatabaseReservationStore(database, server, { zone: "UTC", now: time.clock });
  return {
    database,
    shared,
    time,
    store,
    learned,
    pauses,
    lines,
    /** So much time passes, for both, and the instance looks. */
    async turn(ms = 100) {
      time.clock += ms;
      time.elapsed += ms;
      task?.();
      for (let i = 0; i < 20; i++) await Promise.resolve();
    },
    ends: () => task === undefined,
    [Symbol.dispose]: () => {
      shared.close();
      database.close();
    },
  };
}

Deno.test("SharedReservations knows each server's own, and reads when something changed or much time passed", async () => {
  using made = instance();
  const { shared, store, database } = made;
  const [one, two] = [shared.registry("A", "UTC"), shared.registry("B", "UTC")];
  await shared.follow();
  await store("A").add(NIGHT);
  assert.deepEqual(one.list(), []);
  await made.turn();
  assert.deepEqual([one.list().length, two.list().length], [1, 0]);
  assert.deepEqual([...made.pauses], [100], "how often it looks");
  const { reads } = database;
  for (let i = 0; i < 100; i++) await made.turn();
  assert.equal(database.reads, reads, "nothing changed");
  for (let i = 0; i < 50; i++) await made.turn();
  assert.equal(database.reads, reads + 1, "15 s passed");
  await store("B").add({ ...NIGHT, uids: [] });
  await store("A").remove("night");
  await made.turn();
  assert.deepEqual([one.list().length, two.list().length], [0, 1]);
});

Deno.test("SharedReservations go by the clock of all, and end by it", async () => {
  using made = instance();
  const { shared, store, time } = made;
  await store("A").add(NIGHT);
  const registry = shared.registry("A", "UTC");
  await shared.follow();
  time.clock += 8 * 3600_000 - 1;
  assert.equal(registry.limitFor("cid"), 0);
  time.clock += 1;
  assert.equal(registry.limitFor("cid"), TEN_MIB);
});

Deno.test("SharedReservations goes by what it knew last while the database is away, and begins without it", async () => {
  using made = instance();
  const { shared, store, database, time } = made;
  database.away = true;
  const registry = shared.registry("A", "UTC");
  await shared.follow();
  assert.deepEqual([registry.list(), registry.limitFor("cid"), registry.descriptionsFor("ann")], [[], 0, []]);
  database.away = false;
  await store("A").add(NIGHT);
  await made.turn();
  assert.equal(registry.list().length, 1);
  database.away = true;
  for (let i = 0; i < 20; i++) await made.turn(1000);
  time.clock += 8 * 3600_000;
  assert.deepEqual([registry.limitFor("cid"), registry.limitFor("ann")], [TEN_MIB, 0]);
  time.clock += 3 * 3600_000;
  assert.equal(registry.limitFor("cid"), 0);
});

Deno.test("SharedReservations begins with what another knew if the database is away", async () => {
  using before = instance();
  await before.store("A").add(NIGHT);
  await before.shared.follow();
  const [known] = before.learned;
  using made = instance(structuredClone(known));
  made.database.away = true;
  await made.shared.follow();
  const registry = made.shared.registry("A", "UTC");
  assert.deepEqual([registry.list().length, registry.limitFor("cid")], [1, 0]);
  made.time.clock += 8 * 3600_000;
  assert.equal(registry.limitFor("cid"), TEN_MIB);
  made.database.away = false;
  await made.turn();
  assert.deepEqual(registry.list(), [], "it is not in the database of the other");
});

Deno.test("SharedReservations deletes what was over for 30 days, and looks no more once it is closed", async () => {
  using made = instance();
  const { shared, store } = made;
  await store("A").add(NIGHT);
  await shared.follow();
  await made.turn(29 * 24 * 3600_000);
  await made.turn(0);
  assert.equal((await store("A").list()).reservations.length, 1);
  await made.turn(2 * 24 * 3600_000);
  await made.turn(0);
  assert.equal((await store("A").list()).reservations.length, 0);
  shared.close();
  assert.ok(made.ends());
});

Deno.test("SharedReservations goes on while the database takes no changes, and says nothing: the database does", async () => {
  using made = instance();
  const { shared, store, database, lines } = made;
  await shared.follow();
  database.readOnly = true;
  await made.turn(11 * 60_000);
  assert.deepEqual(lines, []);
  database.readOnly = false;
  await store("A").add(NIGHT);
  await made.turn();
  assert.equal(shared.registry("A", "UTC").list().length, 1);
});

Deno.test("DatabaseReservationStore.copy() adds what is not there", async () => {
  using made = instance();
  const [day, night] = [
    { name: "day", from: 1, to: 2, uids: ["ann"], rateLimit: 1024, limitText: "1k" },
    { name: "night", from: 2, to: 3, uids: [], rateLimit: 0, limitText: "0" },
  ];
  const store = made.store("A");
  assert.deepEqual(await store.copy([day]), { added: 1, present: 0 });
  const other = { ...day, uids: ["ben"] };
  assert.deepEqual(await store.copy([day, night, other]), { added: 2, present: 1 });
  assert.equal((await store.list()).reservations.length, 3);
  assert.deepEqual((await made.store("B").list()).reservations, []);
});

testReservations("reservations in tables of SQLite", async (clock) => {
  const database = new CountedDatabase(clock);
  const shared = new SharedReservations({ database, elapsed: clock, clock, log: SILENT });
  await shared.follow();
  return {
    store: new DatabaseReservationStore(database, "A", { zone: ZONE, now: clock() }),
    registry: shared.registry("A", ZONE),
    close: () => {
      shared.close();
      database.close();
    },
  };
});

if (POSTGRES !== undefined) {
  const server = await TestPostgres.start();
  const name = await server.database();
  testReservations("reservations in PostgreSQL", async (clock) => {
    await server.empty(name);
    const options = { ...server.options(name), clock };
    const [mine, other] = [new PostgresDatabase(options), new PostgresDatabase(options)];
    const shared = new SharedReservations({ database: mine, elapsed: clock, clock, log: SILENT });
    await shared.follow();
    return {
      store: new DatabaseReservationStore(other, "A", { zone: ZONE, now: clock() }),
      registry: shared.registry("A", ZONE),
      close: () => {
        shared.close();
        mine.close();
        other.close();
      },
    };
  });
  Deno.test.afterAll(() => server[Symbol.asyncDispose]());
}
