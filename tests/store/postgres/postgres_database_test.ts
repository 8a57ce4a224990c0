import { inTime, until } from "../../fixtures/deadline.ts";
import assert from "node:assert/strict";
import { once } from "node:events";
import type { Duplex } from "node:stream";
import { DatabaseFailure, DatabaseUnavailable, row, rows } from "../../../src/store/database.ts";
import { PostgresDatabase, type PostgresOptions } from "../../../src/store/postgres/postgres_database.ts";
import { connectPlain } from "../../../src/store/postgres/connect_plain.ts";
import { DatabaseState } from "../../../src/store/postgres/database_state.ts";
import { type Connect, PostgresServers } from "../../../src/store/postgres/postgres_servers.ts";
import { POSTGRES, TestPostgres } from "../../fixtures/postgres.ts";

const INSERT = "INSERT INTO note (text) VALUES (:text)";
const COUNT = "SELECT count(*) AS notes FROM note";

const server = POSTGRES === undefined ? undefined : await TestPostgres.start();
Deno.test.afterAll(() => server?.[Symbol.asyncDispose]());

/** Registers a test on a database with one table, `note`. */
function test(
  name: string,
  check: (
    database: PostgresDatabase,
    more: { name: string; server: TestPostgres; options: PostgresOptions },
  ) => Promise<void>,
  more: Partial<PostgresOptions> = {},
): void {
  Deno.test(`PostgresDatabase ${name}`, { ignore: server === undefined }, async () => {
    if (server === undefined) return;
    const name = await server.database();
    await server.sql(name, "CREATE TABLE note (text text NOT NULL)");
    const options = { ...server.options(name), ...more };
    const database = new PostgresDatabase(options);
    try {
      await check(database, { name, server, options });
    } finally {
      database.close();
    }
  });
}

async function count(database: PostgresDatabase): Promise<unknown> {
  return (await database.read(() => row(COUNT, {})))?.["notes"];
}

test("commits all of a change or nothing", async (database) => {
  await database.change(() => rows(INSERT, { text: "kept" }));
  const failing = database.change(function* () {
    yield* rows(INSERT, { text: "half" });
    throw new RangeError("no");
  });
  await assert.rejects(failing, RangeError);
  await assert.rejects(database.change(() => rows(INSERT, { text: null })), DatabaseFailure);
  await assert.rejects(database.change(() => rows(INSERT, { text: "a\0b" })), TypeError);
  assert.deepEqual(await database.read(() => rows("SELECT * FROM note", {})), [{ text: "kept" }]);
  assert.equal(database.isOpen, true);
});

test("uses the clock of the server", async (database, { name, server }) => {
  const here = await database.read(() => row("SELECT :now AS now, :clock AS clock", {}));
  const [there] = await server.sql(name, "SELECT extract(epoch FROM now()) AS now");
  assert.ok(Math.abs(Number(here?.["now"]) - Number(there?.["now"])) < 60);
  assert.equal(here?.["now"], Math.floor(Number(here?.["clock"]) / 1000));
});

test("runs changes that name the same lock one after the other, and others in parallel", async (database) => {
  let inside = 0;
  let most = 0;
  const enter = (lock?: string) =>
    database.change(function* () {
      most = Math.max(most, ++inside);
      yield* rows("SELECT pg_sleep(0.02)", {});
      inside--;
    }, { lock });
  await Promise.all(Array.from({ length: 5 }, () => enter("shares of A")));
  assert.equal(most, 1);
  await Promise.all(Array.from({ length: 5 }, (_, i) => enter(`shares of ${i}`)));
  assert.ok(most > 1);
});

test(
  "shows earlier changes to changes that waited for them, under any default isolation level",
  async (_, parts) => {
    const { name, server, options } = parts;
    await server.sql(name, `ALTER DATABASE ${name} SET default_transaction_isolation = 'repeatable read'`);
    using database = new PostgresDatabase(options);
    const before = await server.connect(name);
    await before.run("BEGIN; SELECT pg_advisory_xact_lock(hashtextextended('notes', 0))");
    const counts = [1, 2].map((n) =>
      database.change(function* () {
        const notes = (yield* row(COUNT, {}))?.["notes"];
        yield* rows(INSERT, { text: `${n}` });
        return notes;
      }, { lock: "notes" })
    );
    const waiting = "SELECT count(*) AS n FROM pg_locks WHERE locktype = 'advisory' AND NOT granted";
    await until(async () => Number((await server.sql(name, waiting))[0]?.["n"]) === 2, { everyMs: 5 });
    await before.run("COMMIT");
    before.destroy();
    assert.deepEqual((await Promise.all(counts)).toSorted(), [0, 1]);
  },
);

test("waits for the disk, except for asynchronous commits", async (database) => {
  const waits = function* () {
    return (yield* row("SELECT current_setting('synchronous_commit') AS waits", {}))?.["waits"];
  };
  const options = [{}, { asyncCommit: true }, { asyncCommit: true, lock: "it" }, { lock: "it" }];
  const told: unknown[] = [];
  for (const each of options) told.push(await database.change(waits, each));
  assert.deepEqual(told, ["on", "off", "off", "on"]);
});

test("retries when two changes wait for each other", async (database) => {
  await database.change(function* () {
    yield* rows(INSERT, { text: "a" });
    yield* rows(INSERT, { text: "b" });
  });
  const update = "UPDATE note SET text = text || 'x' WHERE text LIKE :text";
  const both = (first: string, second: string) =>
    database.change(function* () {
      yield* rows(update, { text: `${first}%` });
      yield* rows("SELECT pg_sleep(0.05)", {});
      yield* rows(update, { text: `${second}%` });
    });
  await Promise.all([both("a", "b"), both("b", "a")]);
  assert.deepEqual(await database.read(() => rows("SELECT text FROM note ORDER BY text", {})), [
    { text: "axx" },
    { text: "bxx" },
  ]);
});

/** Loses connections that send a commit, before the server gets it or after it has committed. */
function losing(when: "before" | "after", times: number): { connect: Connect; readonly lost: number } {
  const state = { connect, lost: 0 };
  async function connect(...[to, signal]: Parameters<Connect>): Promise<Duplex> {
    const socket = await connectPlain(to, signal);
    const write = socket.write.bind(socket);
    const intercepted = (chunk: Uint8Array, done?: () => void): boolean => {
      if (!new TextDecoder().decode(chunk).includes("COMMIT") || state.lost >= times) {
        return write(chunk, done);
      }
      state.lost++;
      socket.removeAllListeners("data");
      if (when === "after") {
        socket.once("data", () => socket.destroy());
        return write(chunk, done);
      }
      socket.destroy();
      return true;
    };
    Object.assign(socket, { write: intercepted });
    return socket;
  }
  return state;
}

for (const when of ["before", "after"] as const) {
  const loss = losing(when, 2);
  test(`applies a change once if its connection is lost ${when} the commit`, async (database) => {
    let tries = 0;
    const number = await database.change(function* () {
      tries++;
      yield* rows(INSERT, { text: "once" });
      return tries;
    });
    assert.equal(await count(database), 1);
    // If the first try was committed, its result is returned, not that of a later try.
    assert.deepEqual([number, tries], when === "after" ? [1, 1] : [3, 3]);
    assert.equal(loss.lost, when === "after" ? 1 : 2);
  }, { connect: loss.connect });
}

test(
  "reports a change that takes too long, and cancels it on the server too",
  async (database, { name, server }) => {
    const slow = database.change(function* () {
      yield* rows(INSERT, { text: "late" });
      yield* rows("SELECT pg_sleep(60)", {});
    });
    await assert.rejects(slow, DatabaseFailure);
    const sleeping =
      `SELECT pid FROM pg_stat_activity WHERE query LIKE '%pg_sleep(60)%' AND pid <> pg_backend_pid()`;
    await until(async () => (await server.sql(name, sleeping)).length === 0);
    assert.deepEqual(await server.sql(name, COUNT), [{ notes: 0 }]);
  },
  { timeoutMs: 300 },
);

test(
  "opens no more connections than permitted, and queues other work",
  async (database, { name, server }) => {
    await Promise.all(Array.from({ length: 30 }, () => database.change(() => rows(INSERT, { text: "x" }))));
    const [found] = await server.sql(
      name,
      "SELECT count(*) AS n FROM pg_stat_activity WHERE application_name = 'authserver' AND datname = current_database() AND pid <> pg_backend_pid()",
    );
    assert.ok(Number(found?.["n"]) <= 3, String(found?.["n"]));
    assert.equal(await count(database), 30);
  },
  { connections: 3 },
);

test("notices changes of other instances, by table", async (database, { options }) => {
  const other = new PostgresDatabase(options);
  await until(() => database.isReachable);
  const [records, notes] = [database.version("record"), database.version("note")];
  await other.change(() => rows("INSERT INTO record VALUES ('k', 'a', 'o', 1, 2, '{}')", {}));
  await until(() => database.version("record") !== records);
  assert.equal(database.version("note"), notes);
  other.close();
});

test(
  "considers every table changed after the listening connection was lost",
  async (database, { name, server }) => {
    await until(() => database.isReachable);
    const before = database.version("record");
    await server.sql(
      name,
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()",
    );
    await until(() => database.version("record") !== before);
    assert.equal(await count(database), 0);
  },
);

const reached: Duplex[] = [];

test("closes idle connections at once when it is closed", async (database) => {
  await until(() => database.isReachable);
  await Promise.all([1, 2].map(() => count(database)));
  assert(reached.length >= 2, "one hears, others did something");
  assert(reached.some(({ destroyed }) => !destroyed));
  database.close();
  assert(reached.every(({ destroyed }) => destroyed));
}, {
  connect: async (...to) => {
    const socket = await connectPlain(...to);
    reached.push(socket);
    return socket;
  },
});

let closed = 0;

test("connects again when a server closes connections at once", async (database) => {
  await inTime(count(database), "the answer");
  await until(() => database.isReachable);
  assert.equal(closed, 2, "that of the work and the one that listens");
}, {
  connect: async (...to) => {
    const socket = await connectPlain(...to);
    if (closed >= 2) return socket;
    closed++;
    socket.destroy();
    await once(socket, "close");
    return socket;
  },
});

const ofFrozen: Duplex[] = [];

test(
  "waits at most half of its timeout for an instance that is frozen during a change",
  async (frozen, { options }) => {
    await frozen.change(() => rows(INSERT, { text: "a" }));
    const update = "UPDATE note SET text = text || :more";
    using other = new PostgresDatabase({ ...options, connect: connectPlain });
    const locked = Promise.withResolvers<void>();
    const lost = assert.rejects(
      frozen.change(function* () {
        yield* rows(update, { more: "1" });
        locked.resolve();
        yield* rows("SELECT pg_sleep(0.3)", {}); // the other begins to wait before this one falls silent
        for (const socket of ofFrozen) socket.cork();
        yield* rows(update, { more: "2" });
      }),
      DatabaseUnavailable,
    );
    await locked.promise;
    await other.change(() => rows(update, { more: "3" }));
    assert.deepEqual(await other.read(() => rows("SELECT * FROM note", {})), [{ text: "a3" }]);
    frozen.close();
    await lost;
  },
  {
    timeoutMs: 4000,
    connect: async (...to) => {
      const socket = await connectPlain(...to);
      ofFrozen.push(socket);
      return socket;
    },
  },
);

let admitted = 2;

test("lets work wait for a free connection while the server refuses others", async (database) => {
  await until(() => database.isReachable);
  await count(database);
  await Promise.all([1, 2, 3].map(() => database.read(() => row("SELECT pg_sleep(0.01)", {}))));
  assert.equal(database.status.kind, "degraded");
}, {
  connect: (...to) => {
    if (admitted-- > 0) return connectPlain(...to);
    return Promise.reject(new DatabaseFailure("password authentication failed"));
  },
});

test("closes a connection that opens only after the deadline", async (_database, { options }) => {
  const { promise: connected, resolve: connect } = Promise.withResolvers<Duplex>();
  const servers = new PostgresServers({
    ...options,
    connect: () => connected,
    checkSchema: () => Promise.resolve(),
    state: new DatabaseState({ elapsed: () => 0, toleranceMs: 1000 }),
  });
  using silent = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const late = new AbortController();
  const opening = servers.open(late.signal);
  late.abort(new DatabaseUnavailable("no answer in time"));
  const socket = await connectPlain(
    { host: "127.0.0.1", port: silent.addr.port },
    AbortSignal.timeout(20_000),
  );
  connect(socket);
  await assert.rejects(inTime(opening, "the failure"), /no answer in time/);
  assert.ok(socket.destroyed);
});

test("continues when the tables get a column meanwhile", async (database, { name, server }) => {
  const all = () => database.read(() => rows("SELECT * FROM note", {}));
  await database.change(() => rows(INSERT, { text: "x" }));
  assert.deepEqual(await all(), [{ text: "x" }]);
  await server.sql(name, "ALTER TABLE note ADD COLUMN at bigint");
  assert.deepEqual(await all(), [{ text: "x", at: null }]);
});

test(
  "cannot read the environment, and does not need it",
  async (database, { options: { servers, login } }) => {
    // The worker may not read the environment: any attempt would fail.
    const worker = new Worker(new URL("environment_worker.ts", import.meta.url), {
      type: "module",
      deno: { permissions: { net: [`127.0.0.1:${servers[0]?.port}`], read: true, env: false } },
    });
    const answer = new Promise((resolve) => worker.onmessage = ({ data }) => resolve(data));
    worker.postMessage({ servers, login });
    assert.deepEqual(await answer, { application: "authserver" });
    worker.terminate();
    assert.equal(database.isOpen, true);
  },
);
