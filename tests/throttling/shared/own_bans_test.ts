/** Bans of a single instance in its own database, by the shared code, which reads them once. */
import assert from "node:assert/strict";
import { assertAlike } from "../../fixtures/assert_alike.ts";
import { SILENT } from "../../../src/logging/logger.ts";
import { type Database, DatabaseFailure } from "../../../src/store/database.ts";
import { SqliteDatabase } from "../../../src/store/sqlite_database.ts";
import { RECORD_SCHEMA } from "../../../src/store/sqlite_record_store.ts";
import { ThrottlingMemory, type ThrottlingUpdate } from "../../../src/throttling/memory.ts";
import { SharedThrottling } from "../../../src/throttling/shared/shared_throttling.ts";

const HOUR = 3_600_000;
const CONFIG = {
  enabled: true,
  maxFailures: 5,
  windowSeconds: 3600,
  baseDelaySeconds: 1,
  maxDelaySeconds: 900,
};

/** Wall clock of the host, which people set, and steady time. */
interface Time {
  host: number;
  steady: number;
}

class Core implements AsyncDisposable {
  readonly memory: ThrottlingMemory;
  readonly told: ThrottlingUpdate[] = [];
  readonly bans: SharedThrottling;
  full = false;
  readonly #database: SqliteDatabase;
  #tasks: (() => void)[] = [];
  #changes: Promise<unknown>[] = []; // those begun since the last turn

  constructor(file: string, time: Time, known: boolean) {
    const own = this.#database = new SqliteDatabase(file, RECORD_SCHEMA, () => time.host);
    const database: Database = {
      isOpen: true,
      read: (work) => own.read(work),
      change: (work) => {
        const change = this.full ? Promise.reject(new DatabaseFailure("disk is full")) : own.change(work);
        this.#changes.push(change);
        return change;
      },
      version: () => own.version(),
      close: () => {},
    };
    this.memory = new ThrottlingMemory({ config: CONFIG, steady: () => time.steady, clock: () => time.host });
    this.bans = new SharedThrottling({
      database,
      secret: "",
      log: SILENT,
      elapsed: () => time.steady,
      onUpdate: (news) => this.told.push(news),
      schedule: (_ms, task) => {
        this.#tasks.push(task);
        return () => {};
      },
      singleInstance: { known },
    });
  }

  /** Runs all timers once, and waits until their changes are on disk. */
  async turn(): Promise<void> {
    const tasks = this.#tasks;
    this.#tasks = [];
    for (const task of tasks) task();
    do {
      await Promise.allSettled(this.#changes.splice(0));
      for (let i = 0; i < 40; i++) await Promise.resolve();
    } while (this.#changes.length > 0);
  }

  get banned(): readonly (string | undefined)[] {
    return this.memory.operator.list().map(({ user }) => user);
  }

  async [Symbol.asyncDispose]() {
    this.bans.close();
    await this.turn();
    this.#database.close();
  }
}

function test(
  name: string,
  check: (open: (known?: boolean) => Promise<Core>, time: Time) => Promise<void>,
): void {
  Deno.test(`SharedThrottling of a single instance ${name}`, async () => {
    const folder = await Deno.makeTempDir();
    const time = { host: 1_700_000_000_000, steady: 5000 };
    try {
      await check(async (known = false) => {
        const core = new Core(`${folder}/records.sqlite`, time, known);
        await core.bans.follow(core.memory);
        return core;
      }, time);
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  });
}

test("reads the bans of the previous process, and reports them to its supervisor", async (open, time) => {
  await using before = await open();
  assert.deepEqual(before.told, [], "nothing to say");
  assert.equal(await before.bans.ban({ user: "ann", names: ["CN=Ann"] }, time.host + HOUR), true);
  await using after = await open();
  assert.deepEqual(after.banned, ["ann"]);
  const [ban] = after.memory.operator.list();
  assert.deepEqual([ban?.names, ban?.until, ban?.pending], [["CN=Ann"], time.steady + HOUR, undefined]);
  assertAlike(after.told[0]?.allBans, [ban]);
  assert.equal(await after.bans.lift({ user: "ann" }), 1);
  await using last = await open();
  assert.deepEqual(last.banned, []);
});

test("ends bans by steady time, whatever the clock of the host is set to", async (open, time) => {
  await using core = await open();
  await core.bans.ban({ user: "ann" }, time.host + HOUR);
  for (const hours of [48, -96]) {
    time.host += hours * HOUR;
    time.steady += HOUR / 4;
    await core.turn();
    assert.deepEqual(core.banned, ["ann"]);
  }
  time.steady += HOUR / 2;
  await core.turn();
  assert.deepEqual(core.banned, []);
});

test(
  "does not report the bans that a later core reads, since earlier cores know their ends better",
  async (open, time) => {
    await using first = await open();
    await first.bans.ban({ user: "ann" }, time.host + HOUR);
    await using next = await open(true);
    assert.deepEqual(next.banned, ["ann"], "also if the core before died before it told of the ban");
    assert.deepEqual(next.told, []);
  },
);

test(
  "bans at once on a full disk, stores the ban when there is room, and lifts nothing meanwhile",
  async (open, time) => {
    await using core = await open();
    assert.equal(await core.bans.ban({ user: "ann" }, time.host + HOUR), true);
    core.full = true;
    assert.equal(await core.bans.ban({ user: "ann" }, time.host + HOUR / 2), false);
    assert.equal(await core.bans.ban({ user: "bob" }, time.host + HOUR), false);
    assert.deepEqual(core.banned, ["ann", "bob"]);
    await assert.rejects(core.bans.lift({ user: "ann" }), DatabaseFailure);
    assert.deepEqual(core.banned, ["ann", "bob"]);
    await core.turn();
    core.full = false;
    await core.turn();
    await using after = await open();
    assert.deepEqual(after.banned, ["ann", "bob"]);
    const hours = (core: Core) =>
      core.memory.operator.list().map(({ until }) => (until - time.steady) / HOUR);
    assert.deepEqual([hours(core), hours(after)], [[1 / 2, 1], [1 / 2, 1]], "the last order counts");
    assert.deepEqual(core.memory.operator.list().map(({ pending }) => pending ?? false), [false, false]);
  },
);
