import { DatabaseUnavailable } from "../../../src/store/database.ts";
import assert from "node:assert/strict";
import { PostgresPool } from "../../../src/store/postgres/postgres_pool.ts";
import { DatabaseState } from "../../../src/store/postgres/database_state.ts";
import { PostgresServers } from "../../../src/store/postgres/postgres_servers.ts";
import { connectPlain } from "../../../src/store/postgres/connect_plain.ts";
import { POSTGRES, TestPostgres } from "../../fixtures/postgres.ts";

const server = POSTGRES === undefined ? undefined : await TestPostgres.start();
Deno.test.afterAll(() => server?.[Symbol.asyncDispose]());

/** Registers a test of a pool with one connection. */
function test(name: string, check: (pool: PostgresPool) => Promise<void>, most = 1): void {
  Deno.test(`PostgresPool ${name}`, { ignore: server === undefined }, async () => {
    if (server === undefined) return;
    const options = server.options(await server.database());
    const state = new DatabaseState({ elapsed: () => 0.5, toleranceMs: 1000 });
    const servers = new PostgresServers({
      ...options,
      connect: connectPlain,
      checkSchema: () => Promise.resolve(),
      state,
    });
    const pool = new PostgresPool(servers, state, most);
    try {
      await check(pool);
    } finally {
      pool.close();
    }
  });
}

function deadline() {
  const late = new AbortController();
  return {
    signal: late.signal,
    left: () => 60_000,
    come: () => late.abort(new DatabaseUnavailable("no answer in time")),
  };
}

test("closes a connection whose work is late, and opens another for the next", async (pool) => {
  const first = deadline();
  const begun = Promise.withResolvers<void>();
  const late = pool.use(first, async (connection) => {
    const rows = connection.query("SELECT pg_sleep(60)", []);
    begun.resolve();
    return await rows;
  });
  await begun.promise;
  first.come();
  await assert.rejects(late);
  assert.deepEqual(await pool.use(deadline(), (on) => on.query("SELECT 1 AS one", [])), [{ one: 1 }]);
});

test("keeps a connection when the deadline of its earlier, finished work passes", async (pool) => {
  const first = deadline();
  const before = await pool.use(first, (on) => Promise.resolve(on));
  await pool.use(deadline(), async (on) => {
    assert.equal(on, before, "one connection is used again and again");
    first.come();
    assert.equal(on.isAlive, true);
    assert.deepEqual(await on.query("SELECT 1 AS one", []), [{ one: 1 }]);
  });
});

test("discards a connection that is returned after the pool has ended", async (pool) => {
  const connection = await pool.use(deadline(), (on) => {
    pool.close();
    return Promise.resolve(on);
  });
  assert.equal(connection.isAlive, false);
});

test("keeps a connection after a refused statement, but not one that the server has ended", async (pool) => {
  const used = () => pool.use(deadline(), (on) => Promise.resolve(on));
  const first = await used();
  await assert.rejects(pool.use(deadline(), (on) => on.query("SELECT 1 / 0", [])), /division by zero/);
  assert.equal(await used(), first);
  await assert.rejects(
    pool.use(deadline(), (on) => on.query("SELECT pg_terminate_backend(pg_backend_pid())", [])),
  );
  const next = await used();
  assert.notEqual(next, first);
  assert.equal(first.isAlive, false);
});

test(
  "opens no further connection for work while others are refused and one works, except as a probe",
  async (pool) => {
    await new Promise<void>((begun) =>
      void pool.use(deadline(), () => {
        begun();
        return new Promise(() => {}); // its connection works, and is not free
      }).catch(() => {})
    );
    await pool.use(deadline(), () => Promise.resolve());
    const { state } = pool;
    await assert.rejects(state.attempt(() => Promise.reject(new Error("refused"))), DatabaseUnavailable);
    pool.closeIdle();
    const used = () => pool.use(deadline(), () => Promise.resolve("done"));
    await assert.rejects(used(), DatabaseUnavailable);
    await pool.openIdle(deadline());
    assert.equal(await used(), "done");
  },
  2,
);
