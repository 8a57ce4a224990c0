import assert from "node:assert/strict";
import { Sinks } from "../../src/logging/sink.ts";
import { SILENT } from "../../src/logging/logger.ts";
import type { OfKind } from "../../src/config/kind.ts";
import { type Destination, type DestinationKind, Undeliverable } from "../../src/notify/destination.ts";
import { Dispatcher } from "../../src/notify/dispatcher.ts";
import type { Notification, NotifiedEvent } from "../../src/notify/event.ts";
import { DESTINATIONS } from "../../src/notify/kinds.ts";
import { Notifications } from "../../src/notify/notifications.ts";
import { Outbox } from "../../src/notify/outbox.ts";
import { Recorder } from "../../src/notify/recorder.ts";
import { RemoteUnavailable } from "../../src/outgoing/remote_unavailable.ts";
import { SHARE_SCHEMA } from "../../src/sharing/store/schema.ts";
import { insertRows } from "../../src/store/copy_rows.ts";
import { type Database, row, rows } from "../../src/store/database.ts";
import { PostgresDatabase } from "../../src/store/postgres/postgres_database.ts";
import { IN_MEMORY, SqliteDatabase } from "../../src/store/sqlite_database.ts";
import { until } from "../fixtures/deadline.ts";
import { POSTGRES, TestPostgres } from "../fixtures/postgres.ts";
import { VirtualTime } from "../fixtures/virtual_time.ts";

const kinds: OfKind<DestinationKind>[] = await Promise.all(DESTINATIONS.kinds.map(async ({ load }) => {
  const kind = await load();
  return { sort: "notification", config: { kind: kind.name, name: kind.name }, kind };
}));

/** Receiver whose deliveries the test controls. */
class Inbox implements Destination {
  readonly host = "receiver";
  readonly got: string[] = [];
  readonly messages: string[] = [];
  /** Throws or waits before a delivery; absent: accepts. */
  hinder: ((text: string) => unknown) | undefined;

  constructor(readonly name: "webhook" | "mail" = "webhook", readonly batching?: Destination["batching"]) {}

  async deliver(notifications: readonly Notification[], signal: AbortSignal): Promise<void> {
    const text = notifications.map(({ data }) => String(data["n"])).join("+");
    const hindrance = this.hinder?.(text);
    if (hindrance instanceof Promise) {
      await Promise.race([
        hindrance,
        new Promise((_, reject) =>
          signal.addEventListener("abort", () => reject(signal.reason), { once: true })
        ),
      ]);
    }
    this.got.push(text);
    this.messages.push(...notifications.map(({ message }) => message));
  }
}

interface Setting {
  readonly time: VirtualTime;
  /** Opens the database once more, as another process does. */
  open(): Promise<Database> | Database;
}

function event(n: number | string, stream = "share 1"): NotifiedEvent {
  return { type: "files.arrived", stream, data: { n } };
}

/** Registers the tests for each database. */
function testDelivery(
  name: string,
  create: () => Promise<Setting & AsyncDisposable> | Setting & AsyncDisposable,
) {
  const fact = (
    title: string,
    check: (
      parts: Setting & {
        readonly database: Database;
        readonly sinks: Sinks;
        readonly record: (...events: NotifiedEvent[]) => Promise<void>;
        /** Another instance or a later process, on its own connection. */
        readonly another: (destination: Destination, attemptMs?: number) => Promise<Dispatcher>;
        readonly waiting: () => Promise<number>;
        readonly lost: (name?: string) => number | undefined;
      },
    ) => Promise<void>,
  ) =>
    Deno.test(`${name}: ${title}`, async () => {
      await using setting = await create();
      const opened: Database[] = [];
      const open = async () => {
        const database = await setting.open();
        opened.push(database);
        return database;
      };
      const sinks = new Sinks(SILENT);
      const database = await open();
      const recorder = new Recorder(kinds, sinks);
      const { time } = setting;
      try {
        await check({
          ...setting,
          database,
          sinks,
          record: async (...events) => {
            for (const each of events) await database.change(() => recorder.record(each));
          },
          another: async (destination, attemptMs) =>
            new Dispatcher(destination, {
              outbox: new Outbox(await open()),
              sinks,
              log: SILENT,
              schedule: time.schedule,
              elapsed: time.clock,
              attemptMs,
            }),
          waiting: async () =>
            Number(
              (await database.read(() => row("SELECT count(number) AS n FROM notification", {})))?.["n"],
            ),
          lost: (name = "webhook") => sinks.states.find((state) => state.name === name)?.lost,
        });
      } finally {
        for (const each of opened) each.close();
      }
    });

  fact(
    "delivers each notification once, and those of a stream in order",
    async ({ record, another, waiting }) => {
      const inbox = new Inbox();
      const dispatcher = await another(inbox);
      for (let n = 1; n <= 12; n++) await record(event(n, `share ${n % 3}`));
      await dispatcher.poll();
      await dispatcher.poll();
      const streams = [0, 1, 2].map((stream) => inbox.got.map(Number).filter((n) => n % 3 === stream));
      assert.deepEqual(streams, [[3, 6, 9, 12], [1, 4, 7, 10], [2, 5, 8, 11]]);
      assert.equal(new Set(inbox.messages).size, 12);
      assert.equal(await waiting(), 0);
    },
  );

  fact("busy streams delay others by at most a second, and keep their order", async (parts) => {
    const { record, another, time, sinks } = parts;
    const inbox = new Inbox();
    const dispatcher = await another(inbox);
    for (let n = 0; n < 40; n++) await record(event(n, `share ${n % 4}`));
    await record(event("daemon", "daemon a"));
    inbox.hinder = () => time.now += 300;
    await dispatcher.poll();
    const before = inbox.got.length;
    assert(before >= 4 && before < 12, `${before} delivered`);
    await dispatcher.poll();
    assert(inbox.got.includes("daemon"), "behind four others");
    // A stream whose turn ended made no attempt: its first failure has the first pause.
    inbox.hinder = () => {
      throw new Error("status 400");
    };
    await dispatcher.poll();
    inbox.hinder = undefined;
    time.now += 5001;
    for (let looks = 0; looks < 2; looks++) await dispatcher.poll();
    const streams = [0, 1, 2, 3].map((stream) => inbox.got.filter((n) => Number(n) % 4 === stream));
    assert.deepEqual(
      streams,
      streams.map((_, stream) => Array.from({ length: 10 }, (_, i) => String(4 * i + stream))),
    );
    assert.equal(sinks.of("webhook").failing, false);
  });

  fact("several instances deliver each notification once", async ({ record, another, waiting }) => {
    const inboxes = [new Inbox(), new Inbox(), new Inbox()];
    const dispatchers = await Promise.all(inboxes.map((inbox) => another(inbox)));
    for (let n = 1; n <= 30; n++) await record(event(n, `share ${n % 5}`));
    for (let round = 0; round < 3; round++) await Promise.all(dispatchers.map((each) => each.poll()));
    const all = inboxes.flatMap(({ got }) => got.map(Number)).sort((a, b) => a - b);
    assert.deepEqual(all, Array.from({ length: 30 }, (_, i) => i + 1));
    assert.equal(await waiting(), 0);
  });

  fact("a failure delays its stream by growing pauses, and no other stream", async (parts) => {
    const { record, another, time, sinks } = parts;
    const inbox = new Inbox();
    const dispatcher = await another(inbox);
    const tries: number[] = [];
    const begin = time.now;
    inbox.hinder = (text) => {
      if (text !== "bad") return;
      tries.push(Math.round((time.now - begin) / 1000));
      if (tries.length < 5) throw new Error("status 400");
    };
    await record(event("bad"), event("behind"), event("other", "share 2"));
    for (let second = 0; second < 100; second++) {
      await dispatcher.poll();
      if (second === 0) {
        assert.deepEqual(inbox.got, ["other"]);
      }
      time.now += 1000;
    }
    assert.deepEqual(inbox.got, ["other", "bad", "behind"]);
    assert.deepEqual(tries, [0, 5, 15, 35, 75]);
    assert.equal(sinks.of("webhook").failing, false);
  });

  fact(
    "few streams at a time try an unreachable receiver, and not before its Retry-After",
    async (parts) => {
      const { record, another, time, sinks } = parts;
      const inbox = new Inbox();
      const dispatcher = await another(inbox);
      let tries = 0;
      inbox.hinder = () => {
        tries++;
        throw new RemoteUnavailable("receiver", "no connection", { retryAfterSeconds: 120 });
      };
      for (let n = 0; n < 4; n++) await record(event(n, `share ${n}`));
      await dispatcher.poll();
      assert.equal(tries, 4);
      time.now += 119_000;
      await dispatcher.poll();
      assert.equal(tries, 4);
      assert.match(sinks.states[0]?.failure?.reason ?? "", /no connection/);
      inbox.hinder = undefined;
      time.now += 1001;
      await dispatcher.poll();
      assert.equal(inbox.got.length, 4);
      assert.equal(sinks.states[0]?.failure, undefined);
    },
  );

  fact(
    "messages of a killed process are delivered after its lease, whether it delivered them or not",
    async (parts) => {
      const { record, another, time, open } = parts;
      await record(event(1), event(2));
      const killed = new Outbox(await open());
      const inbox = new Inbox();
      // The process dies after it recorded the intent.
      const [taken] = await killed.take(inbox, 4);
      assert.equal(taken?.data["n"], 1);
      const dispatcher = await another(inbox);
      await dispatcher.poll();
      assert.deepEqual(inbox.got, [], "the lease runs");
      time.now += 30_001;
      // The process dies after the delivery, before it recorded the outcome.
      const [again] = await killed.take(inbox, 4);
      assert(again !== undefined);
      await inbox.deliver([again], new AbortController().signal);
      assert.equal(again.message, taken?.message);
      time.now += 30_001;
      await dispatcher.poll();
      assert.deepEqual(inbox.got, ["1", "1", "2"], "at least once, in order");
      assert.equal(inbox.messages[0], inbox.messages[1]);
      // A process that was only slow does not remove messages that others hold or delivered.
      await record(event(3));
      assert.equal(await killed.done([again], inbox), undefined);
      await dispatcher.poll();
      assert.deepEqual(inbox.got, ["1", "1", "2", "3"]);
    },
  );

  fact("also delivers an event whose transaction ends while a later event is delivered", async (parts) => {
    const { record, another, database, waiting } = parts;
    await record(event("late"), event("soon"));
    const columns = "number, message, destination, stream, content, made, due, attempts, held_until";
    const late = await database.change(() =>
      rows(`DELETE FROM notification WHERE number = 1 RETURNING ${columns}`, {})
    );
    const inbox = new Inbox();
    inbox.hinder = (text) =>
      text === "soon" && database.change(() => insertRows("notification", late, "number"));
    await (await another(inbox)).poll();
    assert.deepEqual([inbox.got, await waiting()], [["soon", "late"], 0]);
  });

  fact("continues after a restart, with the recorded pause", async ({ record, another, time }) => {
    const inbox = new Inbox();
    const first = await another(inbox);
    inbox.hinder = () => {
      throw new Error("status 400");
    };
    await record(event(1));
    await first.poll();
    await first.close();
    inbox.hinder = undefined;
    const second = await another(inbox);
    await second.poll();
    assert.deepEqual(inbox.got, []);
    time.now += 5001;
    await second.poll();
    assert.deepEqual(inbox.got, ["1"]);
  });

  fact(
    "aborts an attempt that hangs, and a shutdown does not wait for it",
    async ({ record, another, time }) => {
      const inbox = new Inbox();
      const dispatcher = await another(inbox, 50);
      inbox.hinder = () => new Promise(() => {});
      await record(event(1));
      await dispatcher.poll();
      const closing = await another(inbox);
      time.now += 5001;
      const looking = closing.poll();
      await closing.close();
      await looking;
      inbox.hinder = undefined;
      await (await another(inbox)).poll();
      assert.deepEqual(inbox.got, ["1"], "at once: the lease was given back");
    },
  );

  fact(
    "drops messages older than three days, and counts them as lost",
    async ({ record, another, time, lost, waiting }) => {
      await record(event(1), event(2));
      time.now += 3 * 86_400_000 + 1;
      await record(event(3));
      const inbox = new Inbox();
      await (await another(inbox)).poll();
      assert.deepEqual([inbox.got, lost(), await waiting()], [["3"], 2, 0]);
    },
  );

  fact(
    "drops a permanently refused message, counts it as lost, and continues",
    async ({ record, another, lost }) => {
      const inbox = new Inbox();
      inbox.hinder = (text) => {
        if (text === "1") throw new Undeliverable("no such mailbox");
      };
      await record(event(1), event(2));
      await (await another(inbox)).poll();
      assert.deepEqual([inbox.got, lost()], [["2"], 1]);
    },
  );

  fact("is not failing once the receiver answers, even if it refuses for good", async (parts) => {
    const { record, another, lost, sinks, time } = parts;
    const inbox = new Inbox();
    const dispatcher = await another(inbox);
    await record(event(1));
    for (const error of [new Error("connection refused"), new Undeliverable("no such mailbox")]) {
      inbox.hinder = () => {
        throw error;
      };
      await dispatcher.poll();
      assert.equal(sinks.of("webhook").failing, !(error instanceof Undeliverable));
      time.now += 5001;
    }
    assert.equal(lost(), 1);
  });

  fact("keeps at most a thousand of a stream, the oldest, and counts the others as lost", async (parts) => {
    const { database, lost, another, sinks } = parts;
    const recorder = new Recorder(kinds, sinks);
    await database.change(function* () {
      yield* recorder.record(event(0));
      const columns = "message, destination, stream, content, made, due, attempts, held_until";
      const [first] = yield* rows(`SELECT ${columns} FROM notification`, {});
      const { type, data: _, mailTo } = event(0);
      const others = Array.from({ length: 997 }, (_, i) => ({
        ...first,
        message: crypto.randomUUID(),
        content: JSON.stringify({ type, data: { n: i + 1 }, mailTo }),
      }));
      yield* insertRows("notification", others, "number");
      for (let n = 998; n < 1005; n++) yield* recorder.record(event(n));
      yield* recorder.record(event("other", "share 2"));
    });
    const inbox = new Inbox();
    await (await another(inbox)).poll();
    assert.equal(inbox.got.length, 1001);
    assert.deepEqual([inbox.got.filter((n) => n !== "other").at(-1), lost()], ["999", 5]);
  });

  fact(
    "gathers events until none arrived for a minute, at most for a quarter of an hour",
    async (parts) => {
      const { record, another, time } = parts;
      const inbox = new Inbox("mail", { quietMs: 60_000, maxMs: 900_000, maxCount: 1000 });
      const dispatcher = await another(inbox);
      const arrived = (n: number, stream?: string) => ({ ...event(n, stream), mailTo: "ann@example.org" });
      await record(arrived(1));
      time.now += 40_000;
      await record(arrived(2), arrived(3, "share 2"));
      time.now += 40_000;
      await dispatcher.poll();
      assert.deepEqual(inbox.got, [], "something came within a minute");
      time.now += 20_001;
      await dispatcher.poll();
      assert.deepEqual(inbox.got.toSorted(), ["1+2", "3"]);
      for (let n = 10; n < 50; n++) {
        await record(arrived(n));
        time.now += 30_000;
        await dispatcher.poll();
      }
      assert.match(inbox.got[2] ?? "", /^10\+.*\+39$/);
    },
  );

  fact(
    "gathers for one address only, even if a share changes its owner",
    async ({ record, another, time }) => {
      const inbox = new Inbox("mail", { quietMs: 60_000, maxMs: 900_000, maxCount: 1000 });
      const dispatcher = await another(inbox);
      for (const [n, mailTo] of [[1, "ann"], [2, "ann"], [3, "ben"], [4, "ben"]] as const) {
        await record({ ...event(n), mailTo: `${mailTo}@example.org` });
      }
      time.now += 60_001;
      for (let looks = 0; looks < 3; looks++) await dispatcher.poll();
      assert.deepEqual(inbox.got, ["1+2", "3+4"]);
    },
  );

  fact("an event about a state is sent once for all instances, and again when it changes", async (parts) => {
    const { database, another, sinks } = parts;
    const recorder = new Recorder(kinds, sinks);
    const tell = (type: "daemon.up" | "daemon.down") =>
      database.change(() =>
        recorder.change({ type, stream: "daemon a", data: { n: type } }, {
          subject: "daemon a",
          initial: type === "daemon.up",
        })
      );
    for (const type of ["up", "down", "down", "up", "up", "down"] as const) await tell(`daemon.${type}`);
    const inbox = new Inbox();
    await (await another(inbox)).poll();
    assert.deepEqual(inbox.got, ["daemon.down", "daemon.up", "daemon.down"]);
  });
}

Deno.test("Dispatcher waits an hour at most between attempts, and 15 s for an attempt", async () => {
  const time = new VirtualTime();
  const database = new SqliteDatabase(IN_MEMORY, SHARE_SCHEMA, time.clock);
  const inbox = new Inbox();
  const tries: number[] = [];
  inbox.hinder = () => {
    tries.push(time.now);
    throw new Error("status 400");
  };
  const recorder = new Recorder(kinds);
  await database.change(() => recorder.record(event("bad")));
  const dispatcher = new Dispatcher(inbox, {
    outbox: new Outbox(database),
    sinks: new Sinks(SILENT),
    log: SILENT,
    schedule: time.schedule,
  });
  const limits: number[] = [];
  const { timeout } = AbortSignal;
  AbortSignal.timeout = (ms) => {
    limits.push(ms);
    return new AbortController().signal;
  };
  try {
    for (let attempt = 1; attempt <= 13; attempt++) {
      const before = tries.length;
      await dispatcher.poll();
      assert.equal(tries.length, before + 1);
      const pauseMs = Math.min(5000 * 2 ** (attempt - 1), 3_600_000);
      time.now += pauseMs - 1;
      await dispatcher.poll();
      assert.equal(tries.length, before + 1, `${pauseMs} ms after attempt ${attempt} at the earliest`);
      time.now += 1;
    }
  } finally {
    AbortSignal.timeout = timeout;
    database.close();
  }
  assert.deepEqual(new Set(limits), new Set([15_000]));
});

Deno.test("Dispatcher continues after a quarter of a second if a turn ended, else after a second", async () => {
  const time = new VirtualTime();
  const database = new SqliteDatabase(IN_MEMORY, SHARE_SCHEMA, time.clock);
  const inbox = new Inbox();
  inbox.hinder = () => time.now += 600;
  const recorder = new Recorder(kinds);
  for (let n = 0; n < 3; n++) await database.change(() => recorder.record(event(n)));
  const parts = { outbox: new Outbox(database), sinks: new Sinks(SILENT), log: SILENT };
  const dispatcher = new Dispatcher(inbox, { ...parts, schedule: time.schedule, elapsed: time.clock });
  const looked = () => until(() => time.pending === 1, { everyMs: 1 });
  dispatcher.begin();
  await looked();
  assert.deepEqual(inbox.got, ["0", "1"]);
  await time.advance(250, looked);
  assert.deepEqual(inbox.got, ["0", "1", "2"]);
  await database.change(() => recorder.record(event(3)));
  await time.advance(300, looked);
  assert.equal(inbox.got.length, 3);
  await dispatcher.close();
  database.close();
});

testDelivery("notifications in SQLite", async () => {
  const time = new VirtualTime();
  const folder = await Deno.makeTempDir();
  return {
    time,
    open: () => new SqliteDatabase(`${folder}/shares.sqlite`, SHARE_SCHEMA, time.clock),
    [Symbol.asyncDispose]: () => Deno.remove(folder, { recursive: true }),
  };
});

if (POSTGRES !== undefined) {
  const server = await TestPostgres.start();
  const name = await server.database();
  testDelivery("notifications in PostgreSQL", async () => {
    await server.empty(name);
    const time = new VirtualTime();
    return {
      time,
      open: () => new PostgresDatabase({ ...server.options(name), clock: time.clock }),
      [Symbol.asyncDispose]: async () => {},
    };
  });
  Deno.test("Notifications of several instances are in the order in which their transactions end", async () => {
    await server.empty(name);
    using database = new PostgresDatabase(server.options(name));
    const late: Database = {
      ...{ isOpen: true, version: () => 0, close: () => {} },
      read: (work) => database.read(work),
      change: (work, manner) =>
        database.change(function* () {
          const result = yield* work();
          yield* rows("SELECT pg_advisory_xact_lock(1)", {});
          return result;
        }, manner),
    };
    const sinks = new Sinks(SILENT);
    const [first, second] = [late, database].map((each) =>
      new Notifications(new Recorder(kinds, sinks), each, sinks)
    );
    const lock = await server.connect(name);
    await lock.run("BEGIN; SELECT pg_advisory_xact_lock(1)");
    const waiting = async () => (await server.sql(name, "SELECT 1 FROM pg_locks WHERE NOT granted")).length;
    first?.ban("ban.created", { user: "eve" });
    await until(async () => await waiting() === 1, { everyMs: 5 });
    second?.ban("ban.lifted", { user: "eve" });
    let isOver = false;
    const closed = second?.close().then(() => isOver = true);
    await until(async () => isOver || await waiting() === 2, { everyMs: 5 });
    assert.equal(isOver, false);
    await lock.run("COMMIT");
    lock.destroy();
    await Promise.all([first?.close(), closed]);
    const inbox = new Inbox();
    inbox.deliver = (all) => Promise.resolve(void inbox.got.push(...all.map(({ type }) => type)));
    const outbox = new Outbox(database);
    await new Dispatcher(inbox, { outbox, sinks, log: SILENT }).poll();
    assert.deepEqual(inbox.got, ["ban.created", "ban.lifted"]);
  });

  Deno.test.afterAll(() => server[Symbol.asyncDispose]());
}
