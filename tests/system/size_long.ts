/** Database cost of requests and commands with a million shares, tokens and other records each. */
import assert from "node:assert/strict";
import process from "node:process";
import { DatabaseSync } from "node:sqlite";
import { runCommand } from "../../src/command/run_command.ts";
import { SHARE_DATABASE } from "../../src/sharing/store/schema.ts";
import { openShareStore, ShareStore } from "../../src/sharing/store/share_store.ts";
import { DatabaseRecordStore } from "../../src/store/database_record_store.ts";
import { PostgresDatabase } from "../../src/store/postgres/postgres_database.ts";
import { openRecordStore, RECORD_DATABASE } from "../../src/store/sqlite_record_store.ts";
import { recordedIo } from "../command/recorded_io.ts";
import { until } from "../fixtures/deadline.ts";
import { POSTGRES } from "../fixtures/postgres.ts";
import { note } from "../long/results.ts";
import { DRAFT, USE } from "../sharing/store/conformance.ts";
import { record } from "../store/conformance.ts";
import { SeveralInstances } from "./several_instances.ts";

const MILLION = 1_000_000;
/** Number of expired shares, all of which wait to be purged. */
const EXPIRED = 200_000;
/** Number of owners with a thousand shares each; tokens have 100,000 owners, with ten each. */
const OWNERS = 1000;
const SERVER = "HPC";
/** Promised limits, in milliseconds. */
const REQUEST_MS = 5;
const COMMAND_MS = 1000;
const TRIES = 30;

/** Statements that fill the tables. */
const FILL = [
  // The trigger would report each row.
  "ALTER TABLE record DISABLE TRIGGER USER",
  `INSERT INTO share (server, id, path, owner, target, uid, access, one_time, expires, sources, access_count, created)
   SELECT '${SERVER}', 's' || lpad(n::text, 7, '0'), '/data/' || n, 'cn=owner' || n % ${OWNERS}, 'cn=target' || n % 5000,
     'user', 'READ', 0, CASE WHEN n <= ${EXPIRED} THEN 1 ELSE 4000000000 END, '[]', 0, n
   FROM generate_series(1, ${MILLION}) AS n`,
  `INSERT INTO share_use (server, id, at, who, address, kind, path)
   SELECT '${SERVER}', 's' || lpad(n::text, 7, '0'), n, 'cn=guest', '192.0.2.1', 'HTTP-download', '/data/' || n
   FROM generate_series(1, ${MILLION}) AS n`,
  ...["token", "note"].map((kind) =>
    `INSERT INTO record (kind, key, owner, made, ends, content)
     SELECT '${kind}', 'k' || n, 'cn=owner' || n % 100000, n, 4000000000, '{}' FROM generate_series(1, ${MILLION}) AS n`
  ),
  "ALTER TABLE record ENABLE TRIGGER USER",
  "VACUUM ANALYZE",
];

/** Returns the average milliseconds that the database works for a request, with all its statements. */
async function databaseTime(
  several: SeveralInstances,
  request: (i: number) => Promise<unknown>,
): Promise<number> {
  const { server, database } = several;
  for (let i = 0; i < 10; i++) await request(TRIES + i); // until the server caches plans
  await server.sql(database, "SELECT public.pg_stat_statements_reset()");
  for (let i = 0; i < TRIES; i++) await request(i);
  const [spent] = await server.sql(
    database,
    `SELECT sum(total_exec_time + total_plan_time) AS ms FROM public.pg_stat_statements
     WHERE query NOT LIKE '%pg_stat_statements%'`,
  );
  return Number(spent?.["ms"]) / TRIES;
}

/** Returns requests of clients, by their effect. */
function requestsOf(shares: ShareStore, records: DatabaseRecordStore) {
  const live = (i: number) => `s${String(EXPIRED + 1 + i * 7919).padStart(7, "0")}`;
  const made: string[] = [];
  return {
    "creates a share": async (i: number) => {
      made.push(
        (await shares.put(SERVER, { ...DRAFT, path: `/new/${i}`, owner: `cn=owner${i}` }, 10_000)).id,
      );
    },
    "reads a share": (i: number) => shares.get(SERVER, live(i)),
    "uses a share": async (i: number) => assert.ok(await shares.claim(SERVER, live(i), USE)),
    "lists 100 of its shares": async (i: number) =>
      assert.equal((await shares.ownedBy(SERVER, `cn=owner${i}`, { most: 100 })).length, 100),
    "lists 100 of the shares for it": async (i: number) =>
      assert.equal((await shares.targetedAt(SERVER, [`cn=target${i}`], { most: 100 })).length, 100),
    "finds shares by path": (i: number) =>
      shares.withPaths(SERVER, [`/data/${EXPIRED + 1 + i}`], [`cn=target${(EXPIRED + 1 + i) % 5000}`]),
    "removes a share": (i: number) => shares.remove(SERVER, made[i] ?? ""),
    "creates a token": (i: number) =>
      records.put("token", record(`new${i}`, { owner: `cn=owner${i}`, ends: 4_000_000_000 }), 100),
    "lists its tokens": async (i: number) =>
      assert.ok((await records.list("token", `cn=owner${i}`)).length >= 10),
    "revokes a token": (i: number) => records.remove("token", `new${i}`),
  };
}

/** Commands of an operator, each with a part of its output. */
const COMMANDS: readonly [words: string[], output: RegExp][] = [
  [["share", "list", "--limit", "1000"], /s\d{7}/],
  [["share", "list", "--limit", "1000", "--after", `${SERVER}/s0500000`], /s0500001/],
  [["share", "list", "--owner", "CN=owner7", "--limit", "1000"], /s0200007/],
  [["share", "show", "s0500000"], /cn=guest from 192\.0\.2\.1/],
  [["share", "chown", "s0500000", "--owner", "CN=other", "--uid", "other"], /cn=other/],
  [["share", "remove", "s0500000"], /removed/],
  [["token", "list", "--user", "CN=owner7"], /./],
  [["ban", "list"], /./],
  [["status"], /./],
];

Deno.test({
  name: "with a million shares, tokens and records, requests take 5 ms of the database and commands a second",
  ignore: POSTGRES === undefined,
}, async (t) => {
  await using several = await SeveralInstances.start({
    instances: 0,
    postgres: { settings: { shared_buffers: "128MB", shared_preload_libraries: "pg_stat_statements" } },
  });
  const { server, database, instances } = several;
  await server.sql(database, "CREATE EXTENSION pg_stat_statements SCHEMA public");
  for (const sql of FILL) await server.sql(database, sql);
  const pool = new PostgresDatabase({ ...server.options(database), timeoutMs: 2000 });
  const shares = new ShareStore(pool);
  const measured: string[] = [];

  await t.step("requests of clients", async () => {
    for (const [what, request] of Object.entries(requestsOf(shares, new DatabaseRecordStore(pool)))) {
      const ms = await databaseTime(several, request);
      console.log(what, ms.toFixed(2));
      measured.push(`${what} ${ms.toFixed(1)} ms`);
      assert.ok(ms <= REQUEST_MS, `${what}: ${ms} ms`);
    }
    note("instances", {
      trial: `database time of a request, with ${MILLION} shares, tokens and other records each`,
      done: `${TRIES} requests of each kind`,
      outcome: measured.splice(0).join("; "),
    });
  });

  await t.step("commands of the operator", async () => {
    instances.push(await several.startInstance(0));
    await until(async () => (await several.one.ask("/health/ready")).status === 200);
    for (const [words, output] of COMMANDS) {
      const io = recordedIo();
      const began = performance.now();
      const status = await runCommand([...words, "--config", several.one.main], io);
      const ms = performance.now() - began;
      console.log(words.join(" "), ms.toFixed(0));
      assert.equal(status, 0, io.err);
      assert.match(io.out, output);
      assert.ok(ms <= COMMAND_MS, `${words.join(" ")}: ${ms} ms`);
      measured.push(`\`${words.slice(0, 2).join(" ")}\` ${ms.toFixed(0)} ms`);
    }
    note("instances", {
      trial: "commands of the operator on the same tables, lists to their first 1,000 lines",
      done: "each once",
      outcome: measured.splice(0).join("; "),
    });
  });

  await t.step("purging", async () => {
    await server.sql(database, "SELECT public.pg_stat_statements_reset()");
    const purged = shares.purge();
    const times: number[] = [];
    for (let i = 0; i < 500; i++) {
      const began = performance.now();
      await shares.get(SERVER, `s${EXPIRED + 1 + i}`);
      times.push(performance.now() - began);
    }
    pool.close();
    const count = await purged;
    const [most] = await server.sql(
      database,
      "SELECT max(max_exec_time) AS ms FROM public.pg_stat_statements WHERE query LIKE 'DELETE FROM share %'",
    );
    const ms = Number(most?.["ms"]);
    const median = times.toSorted((a, b) => a - b)[times.length >> 1] ?? NaN;
    console.log("purged", count, ms, median, Math.max(...times));
    assert.ok(count > 0);
    assert.ok(ms <= 100, `a step of purging took ${ms} ms`);
    note("instances", {
      trial: `purging ${EXPIRED} expired shares in steps, while others are read`,
      done: `${count} purged, ${times.length} read`,
      outcome: `each step at most ${ms.toFixed(0)} ms; a read took ${median.toFixed(1)} ms (median)`,
    });
  });
});

/** Number of imported shares, each with a use, and of imported records. */
const IMPORTED = 100_000;
/**
 * Promised shares per second of processor time, of the busier of command and database, which run in parallel.
 */
const IMPORT_RATE = 10_000;

const NUMBERS =
  `WITH RECURSIVE number(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < ${IMPORTED})`;

/** Creates the shares of a single instance, each with a use. */
function fillShares(folder: string): void {
  openShareStore(`${folder}/${SHARE_DATABASE}`, Date.now).close();
  using shares = new DatabaseSync(`${folder}/${SHARE_DATABASE}`);
  shares.exec(
    `INSERT INTO share (server, id, path, owner, target, uid, access, one_time, expires, sources, access_count, created)
    ${NUMBERS} SELECT '${SERVER}', 's' || n, '/data/' || n, 'cn=o' || n % 1000, 'cn=t', 'user', 'READ', 0, 0, '[]', 1, n FROM number`,
  );
  shares.exec(`INSERT INTO share_use (server, id, at, who, address, kind, path)
    ${NUMBERS} SELECT '${SERVER}', 's' || n, n, 'cn=guest', '192.0.2.1', 'UFTP', '/data/' || n FROM number`);
}

/** Creates the tokens of a single instance. */
function fillRecords(folder: string): void {
  openRecordStore(`${folder}/${RECORD_DATABASE}`, Date.now).close();
  using records = new DatabaseSync(`${folder}/${RECORD_DATABASE}`);
  records.exec(`INSERT INTO record (kind, key, owner, made, ends, content)
    ${NUMBERS} SELECT 'token', 'k' || n, 'cn=o' || n % 1000, n, 4000000000, '{}' FROM number`);
}

Deno.test({
  name: "database import copies 10,000 shares a second, and skips those that exist",
  ignore: POSTGRES === undefined,
}, async () => {
  await using several = await SeveralInstances.start({ instances: 0, postgres: { durable: true } });
  const { server, site: { folder, main } } = several;
  await Deno.mkdir(`${folder}/data`);
  const run = async () => {
    const io = recordedIo();
    const [began, before, ofDatabase] = [performance.now(), process.cpuUsage(), await server.usedMs()];
    const words = ["database", "import", "--directory", `${folder}/data`, "--json", "--config", main];
    assert.equal(await runCommand(words, io), 0, io.err);
    const perSecond = (ms: number) => Math.round(IMPORTED / (ms / 1000));
    const rate = perSecond(performance.now() - began);
    const { user, system } = process.cpuUsage(before);
    const usedMs = [(user + system) / 1000, await server.usedMs() - ofDatabase];
    const busier = perSecond(Math.max(...usedMs));
    console.log(rate, busier, usedMs, io.err);
    return { rate, busier, told: JSON.parse(io.out) };
  };
  fillShares(`${folder}/data`);
  const shares = await run();
  assert.deepEqual(shares.told.shares, { added: IMPORTED, present: 0 });
  const again = await run();
  assert.deepEqual(again.told.shares, { added: 0, present: IMPORTED });
  await Deno.remove(`${folder}/data/${SHARE_DATABASE}`);
  fillRecords(`${folder}/data`);
  const records = await run();
  assert.deepEqual(records.told.records, { added: IMPORTED, present: 0 });
  for (const { busier } of [shares, records]) assert.ok(busier >= IMPORT_RATE, `${busier} a second`);
  note("instances", {
    trial: "`authserver database import` into a database that waits for its disk",
    done: `${IMPORTED} shares with a use each, and ${IMPORTED} tokens`,
    outcome:
      `${shares.rate} shares and ${records.rate} tokens a second, by the processor time of the busier of ` +
      `command and database ${shares.busier} and ${records.busier}; a second run checks ${again.rate} shares a second`,
  });
});
