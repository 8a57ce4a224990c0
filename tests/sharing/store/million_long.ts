/** A million shares and as many records: what clients and operators ask for takes as long as with a few. */
import assert from "node:assert/strict";
import { copyRows } from "../../../src/store/copy_rows.ts";
import { rows } from "../../../src/store/database.ts";
import { DatabaseRecordStore } from "../../../src/store/database_record_store.ts";
import { PostgresDatabase } from "../../../src/store/postgres/postgres_database.ts";
import { SqliteDatabase } from "../../../src/store/sqlite_database.ts";
import { SHARE_SCHEMA } from "../../../src/sharing/store/schema.ts";
import { DatabaseShareStore } from "../../../src/sharing/store/database_share_store.ts";
import { POSTGRES, TestPostgres } from "../../fixtures/postgres.ts";
import { note } from "../../long/results.ts";
import { USE } from "./conformance.ts";

const COUNT = 1_000_000;

/** An operator's command takes no longer, in milliseconds. */
const LONGEST_MS = 1000;

const SHARES = { name: "share", key: ["server", "id"], details: "share_use" } as const;

async function timed<T>(action: () => Promise<T>): Promise<{ readonly result: T; readonly ms: number }> {
  const began = performance.now();
  const result = await action();
  return { result, ms: performance.now() - began };
}

/** The median of 21 times, each for another number. */
async function median(action: (number: number) => Promise<unknown>): Promise<number> {
  const times: number[] = [];
  for (let i = 0; i < 21; i++) times.push((await timed(() => action(i))).ms);
  return times.toSorted((a, b) => a - b)[10] ?? 0;
}

const shown = (ms: number) => `${ms.toFixed(1)} ms`;

Deno.test({
  name: "a million shares are imported, listed, found and counted",
  ignore: POSTGRES === undefined,
}, async () => {
  const folder = await Deno.makeTempDir();
  await using server = await TestPostgres.start({ durable: true, settings: { shared_buffers: "128MB" } });
  const name = await server.database();
  const from = new SqliteDatabase(`${folder}/shares.sqlite`, SHARE_SCHEMA, Date.now);
  const to = new PostgresDatabase({ ...server.options(name), timeoutMs: 2000 });
  try {
    await from.change(() =>
      rows(
        `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < :count)
         INSERT INTO share (server, id, path, owner, target, uid, access, one_time, expires, sources, access_count, created)
         SELECT 'HPC', printf('S%010dx', i * 7919 % 1000003 * 10), '/home/u' || (i % 1000) || '/f' || i, 'cn=u' || (i % 1000),
           'cn=t' || (i % 5000), 'u' || (i % 1000), 'READ', 0, 0, '[]', 0, 1700000000000 + i FROM n`,
        { count: COUNT },
      )
    );
    const first = await timed(() => copyRows(from, to, SHARES));
    assert.deepEqual(first.result, { added: COUNT, present: 0 });
    const second = await timed(() => copyRows(from, to, SHARES));
    assert.deepEqual(second.result, { added: 0, present: COUNT });
    note("instances", {
      trial: "`authserver database import` of a million shares",
      done: "twice, into PostgreSQL that keeps what it acknowledged",
      outcome: `${
        Math.round(COUNT / first.ms * 1000).toLocaleString("en")
      } shares a second; the second time ${(second.ms / 1000).toFixed(0)} s, nothing copied`,
    });
    await server.sql(
      name,
      `INSERT INTO authserver.record SELECT 'token', 'k' || i, 'cn=u' || (i % 100000), 1, 4000000000, '{}'
       FROM generate_series(1, ${COUNT}) AS i`,
    );
    const store = new DatabaseShareStore(to);
    const records = new DatabaseRecordStore(to);
    const page = await timed(() => store.page({}));
    const ids = page.result.shares.map(({ id }) => id);
    const id = (i: number) => ids[i] ?? "";
    const commands = {
      "first page of the list": page.ms,
      "of one owner": await median((i) => store.page({ owner: `cn=u${i}` })),
      "show": await median((i) => store.withId(id(i))),
      "count": await median(() => store.count()),
    };
    const requests = {
      "a share": await median((i) => store.get("HPC", id(i))),
      "its use": await median((i) => store.claim("HPC", id(i), USE)),
      "shares of an owner, 100 of them": await median((i) => store.ownedBy("HPC", `cn=u${i}`, { most: 100 })),
      "tokens of an owner": await median((i) => records.list("token", `cn=u${i}`)),
      "removal": await median((i) => store.remove("HPC", id(100 + i))),
    };
    for (const [what, ms] of Object.entries({ ...commands, ...requests })) {
      assert.ok(ms <= LONGEST_MS, `${what} took ${shown(ms)}`);
    }
    const count = await store.count();
    assert.ok(Math.abs(count - COUNT) < COUNT / 5, `${count} counted`);
    const told = (times: Readonly<Record<string, number>>) =>
      Object.entries(times).map(([what, ms]) => `${what} ${shown(ms)}`).join(", ");
    note("instances", {
      trial:
        "a million shares and a million tokens in PostgreSQL: times at the service, the way to the database included",
      done: "medians of 21 each, the first page once",
      outcome: `for operators: ${told(commands)}; for clients: ${told(requests)}`,
    });
  } finally {
    to.close();
    from.close();
    await Deno.remove(folder, { recursive: true });
  }
});
