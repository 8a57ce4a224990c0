/** Faults of the database of several instances, frozen instances, and instances older than the tables. */
import { until } from "../fixtures/deadline.ts";
import assert from "node:assert/strict";
import type { PostgresConnection } from "../../src/store/postgres/postgres_connection.ts";
import { POSTGRES } from "../fixtures/postgres.ts";
import { runCommand } from "../../src/command/run_command.ts";
import { recordedIo } from "../command/recorded_io.ts";
import { ALICE, withProperties } from "../system/running_service.ts";
import { oneTimeRound } from "../system/one_time_rounds.ts";
import { type Instance, SeveralInstances } from "../system/several_instances.ts";
import { note } from "./fault_table.ts";
import { mountSmallDisk } from "./small_disk.ts";

const SECTION = "The database of several instances";

/** Fault of the database, and its effects. */
interface Fault {
  readonly what: string;
  begin(several: SeveralInstances): Promise<void>;
  end(several: SeveralInstances): Promise<void>;
  /** Repeats the fault for connections that escaped it. */
  again?(several: SeveralInstances): Promise<void>;
  /** Whether the database is down; else it answers, and only requests that need the broken part fail. */
  readonly away: boolean;
  /** Line of the log, with the cause. */
  readonly log: RegExp;
}

const held: PostgresConnection[] = [];

/** Instances look at each other every five seconds: more checks would only take processor time. */
const SELDOM = { everyMs: 250, longestPauseMs: 500 };

const FAULTS: readonly Fault[] = [
  {
    what: "the database is down",
    begin: ({ server }) => server.stop(),
    end: ({ server }) => server.run(),
    away: true,
    log: /database is away why="?([^"\n]*)/,
  },
  {
    what: "the database is frozen (SIGSTOP)",
    begin: ({ server }) => server.freeze(),
    end: ({ server }) => server.thaw(),
    away: true,
    log: /database is away why="?([^"\n]*)/,
  },
  {
    what: "the database exceeds `persistence.statementTimeout` (a table is locked)",
    async begin({ server, database }) {
      const connection = await server.connect(database);
      await connection.run("BEGIN; LOCK TABLE authserver.share IN ACCESS EXCLUSIVE MODE");
      held.push(connection);
    },
    end: release,
    away: false,
    log: /request answered .*status=503 .*error="([^"\n]*)/,
  },
  {
    what: "the database has no free connection",
    async begin({ server, database }) {
      const first = await server.connect(database);
      held.push(first);
      await takeAll(server, database);
    },
    // Closes and takes connections of instances that connected meanwhile.
    async again({ server, database }) {
      await held[0]?.run(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()
           AND application_name = 'authserver' AND query NOT LIKE 'SET search_path%'`,
      );
      await takeAll(server, database);
    },
    end: release,
    away: true,
    log: /database is away why="?([^"\n]*)/,
  },
  {
    what: "the database is read-only",
    begin: (several) => readOnly(several, "on"),
    end: (several) => readOnly(several, "off"),
    away: true,
    log: /database is away why="?([^"\n]*)/,
  },
];

async function release(): Promise<void> {
  for (const connection of held.splice(0)) connection.destroy();
  await Promise.resolve();
}

/** Takes connections until there are no more. */
async function takeAll(server: SeveralInstances["server"], database: string): Promise<void> {
  for (;;) {
    const connection = await server.connect(database).catch(() => undefined);
    if (connection === undefined) return;
    held.push(connection);
  }
}

async function readOnly({ server }: SeveralInstances, value: "on" | "off"): Promise<void> {
  const connection = await server.connect("postgres");
  await connection.run("SET default_transaction_read_only = off");
  await connection.run(`ALTER SYSTEM SET default_transaction_read_only = ${value}`);
  await connection.run("SELECT pg_reload_conf()");
  connection.destroy();
}

const statusOf = async (instance: Instance, path: string) =>
  (await instance.ask(path, path === "/rest/auth/HPC" ? { as: ALICE, body: { serverPath: "" } } : {})).status;

/** Two instances for tests that leave them unchanged. */
const two = POSTGRES === undefined ? undefined : await SeveralInstances.start({
  instances: 2,
  postgres: { durable: true, settings: { max_connections: "40" } },
  properties: { "persistence.statementTimeout": "1000" },
});
Deno.test.afterAll(() => two?.[Symbol.asyncDispose]());

/** Registers a test with the two instances. */
function test(name: string, check: (several: SeveralInstances, t: Deno.TestContext) => Promise<void>): void {
  Deno.test({ name, ignore: two === undefined }, async (t) => {
    if (two !== undefined) await check(two, t);
  });
}

test("logins continue during faults of the database", async (several, t) => {
  const { instances, one } = several;
  const access = `/rest/access/HPC/${await several.share()}`;
  for (const { what, begin, again, end, away, log } of FAULTS) {
    await t.step(`${what}: only shares get 503`, async () => {
      const printed = instances.map(({ process }) => process.printed.length);
      await begin(several);
      for (const instance of instances) {
        await until(async () => {
          await again?.(several);
          return (await statusOf(instance, access)) === 503;
        });
        const refused = await instance.ask(access);
        assert.deepEqual([refused.status, refused.json()["code"]], [503, "ERR_SHARE_STORE"]);
        assert.ok(Number(refused.headers["retry-after"]) > 0);
        const status = recordedIo();
        await runCommand(["status", "--json", "--config", instance.main], status);
        assert.equal(JSON.parse(status.out).servers?.length, 1, "the status does not wait for the database");
        if (away) await until(async () => (await instance.ask("/health/ready")).json()["degraded"] === true);
        assert.equal(await statusOf(instance, "/health/ready"), 200);
        assert.equal(await statusOf(instance, "/rest/auth/HPC"), 200);
        const wrong = await instance.ask("/rest/auth", { as: ["nobody", "guess"] });
        assert.equal(wrong.status, 401);
      }
      const told = await one.process.prints(log, printed[0]);
      await end(several);
      for (const instance of instances) {
        await until(async () => (await statusOf(instance, access)) === 200);
        await until(async () => (await instance.ask("/health/ready")).json()["degraded"] === false);
      }
      note({
        section: SECTION,
        fault: what,
        caller: "503 `ERR_SHARE_STORE` with `Retry-After` for shares; logins, tokens and sessions work; " +
          `\`/health/ready\` 200${away ? " with `degraded`" : ""}`,
        log: away
          ? `\`database is away\`, ${told[1] ?? ""}`.replace(/127\.0\.0\.1:\d+ ?/g, "")
          : "`request answered` with the cause",
        after: "recovers without a restart",
      });
    });
  }
});

Deno.test({
  name: "a database with a full disk stores nothing new, loses nothing, and recovers once there is space",
  ignore: POSTGRES === undefined || Deno.uid() !== 0,
}, async () => {
  await using disk = await mountSmallDisk(16 * 1024);
  if (disk === undefined) return;
  await using several = await SeveralInstances.start({ instances: 1 });
  const { server, database, one } = several;
  const nobody = Number(/^nobody:[^:]*:(\d+)/m.exec(await Deno.readTextFile("/etc/passwd"))?.[1]);
  await Deno.mkdir(`${disk.path}/space`);
  await Deno.chown(`${disk.path}/space`, nobody, null);
  await Deno.chmod(disk.path, 0o755);
  await server.sql(database, `CREATE TABLESPACE small LOCATION '${disk.path}/space'`);
  await server.sql(database, "ALTER TABLE authserver.share_use SET TABLESPACE small");
  const access = `/rest/access/HPC/${await several.share()}`;
  assert.equal(await statusOf(one, access), 200);
  await disk.fill();
  let used = 1;
  for (; await statusOf(one, access) === 200; used++);
  assert.equal((await one.ask(access)).status, 503);
  assert.equal(await statusOf(one, "/rest/auth/HPC"), 200);
  await disk.empty();
  await until(async () => await statusOf(one, access) === 200);
  const [kept] = await server.sql(database, "SELECT access_count AS count FROM authserver.share");
  assert.equal(Number(kept?.["count"]), used + 1, "each use that was served, and no other");
  await server.sql(database, "ALTER TABLE authserver.share_use SET TABLESPACE pg_default");
  await server.sql(database, "DROP TABLESPACE small");
  note({
    section: SECTION,
    fault: "the database's disk is full",
    caller: "503 `ERR_SHARE_STORE` for writes; logins and sessions work",
    log: "`request answered` with `could not extend file`",
    after: "exactly the served uses are counted; recovers as soon as there is space",
  });
});

test("a refused statement is a problem in the status until it succeeds", async (several) => {
  const { one, server, database } = several;
  const access = `/rest/access/HPC/${await several.share()}`;
  const status = async () => {
    const io = recordedIo();
    return `${await runCommand(["status", "--nagios", "--config", one.main], io)} ${io.out}`;
  };
  await until(async () => (await status()).startsWith("0 "), SELDOM);
  await server.sql(database, "ALTER TABLE authserver.share RENAME TO aside");
  assert.equal(await statusOf(one, access), 503);
  assert.match(await status(), /^1 AUTHSERVER WARNING - the database refused \d statements?, see the log/);
  await server.sql(database, "ALTER TABLE authserver.aside RENAME TO share");
  assert.equal(await statusOf(one, access), 200);
  await until(async () => (await status()).startsWith("0 "), SELDOM);
});

test("an instance that was frozen includes changes of the others in its first answer", async (several) => {
  const [one, other] = several.instances;
  assert.ok(one && other);
  const access = `/rest/access/HPC/${await several.share()}`;
  const printed = other.process.printed.length;
  assert.equal(await statusOf(other, access), 200);
  // It records the end of the use after its answer. Amid that change it would keep a lock for half of the time
  // that others wait: tests/store/postgres/postgres_database_test.ts.
  await other.process.prints(/share use ended/, printed);
  other.process.kill("SIGSTOP");
  const deleted = await one.ask(access.replace("access", "share"), { as: ALICE, method: "DELETE" })
    .finally(() => other.process.kill("SIGCONT"));
  assert.equal(deleted.status, 200, deleted.text);
  assert.equal(await statusOf(other, access), 404, "its first answer knows");
  note({
    section: SECTION,
    fault: "an instance is frozen (SIGSTOP)",
    caller: "its requests wait; the other instances serve",
    log: "nothing; `authserver status` of the others reports it silent after 17 s",
    after: "its first answer includes what the others did",
  });
});

test("a ban that cannot reach other instances is reported, with their names, and reaches them later", async (several) => {
  const { instances: [one, other], server } = several;
  assert.ok(one && other);
  const ban = async (address: string) => {
    const io = recordedIo();
    const status = await runCommand(["ban", "add", "--address", address, "--config", one.main], io);
    return { status, err: io.err };
  };
  const listed = async () => {
    const io = recordedIo();
    await runCommand(["ban", "list", "--config", other.main], io);
    return io.out;
  };
  await until(async () => (await states(one)).length === 2, SELDOM);
  assert.deepEqual(await ban("192.0.2.7"), { status: 0, err: "" });
  await server.stop();
  const told = await ban("192.0.2.8");
  assert.equal(told.status, 3);
  assert.match(told.err, new RegExp(`do not know of the ban yet: \\S+:${other.port}\\n`));
  assert.doesNotMatch(await listed(), /192\.0\.2\.8/);
  await server.run();
  await until(async () => (await listed()).includes("192.0.2.8"));
  note({
    section: SECTION,
    fault: "the operator bans an address while the database is down",
    caller: "the instance that was asked refuses the address",
    log: "nothing; `ban add` names the instances that do not know yet, and ends with 3",
    after: "the ban holds on all instances",
  });
});

test("an instance with another configuration serves like the others, and all report it until it is fixed", async (several) => {
  const { one } = several;
  const other = await several.startInstance(2, { "share.maxPerUser": "7" });
  const instances = [...several.instances, other];
  const differ = async (instance: Instance) =>
    (await instance.ask("/health/ready")).json()["configurationsDiffer"];
  for (const instance of instances) await until(async () => await differ(instance) === true, SELDOM);
  await one.process.prints(/instances have different configurations names=/);
  const access = `/rest/access/HPC/${await several.share()}`;
  for (const instance of instances) {
    assert.equal(await statusOf(instance, "/health/ready"), 200);
    assert.equal(await statusOf(instance, access), 200);
    assert.equal(await statusOf(instance, "/rest/auth/HPC"), 200);
  }
  await Deno.writeTextFile(
    other.main,
    (await Deno.readTextFile(other.main)).replace("share.maxPerUser=7\n", ""),
  );
  other.process.kill("SIGHUP");
  for (const instance of instances) await until(async () => await differ(instance) === false, SELDOM);
  other.process.kill("SIGTERM");
  assert.equal(await other.process.ended, 0);
  note({
    section: SECTION,
    fault: "an instance has a different configuration",
    caller:
      "nothing; each instance uses its own configuration; `/health/ready` 200 with `configurationsDiffer`",
    log: "`instances have different configurations`, with their names",
    after: "ends with a reload of equal configurations",
  });
});

test("a killed instance cuts off only its own callers, and its successor includes changes of the others", async (several) => {
  const { instances: [one, other] } = several;
  assert.ok(one && other);
  const [kept, removed] = [await several.share(), await several.share(await several.file("removed.txt"))];
  other.process.kill("SIGKILL");
  await other.process.ended;
  await assert.rejects(other.ask("/health/ready"));
  assert.equal(await statusOf(one, `/rest/access/HPC/${kept}`), 200);
  assert.equal(await statusOf(one, "/rest/auth/HPC"), 200);
  const removal = await one.ask(`/rest/share/HPC/${removed}`, { as: ALICE, method: "DELETE" });
  assert.equal(removal.status, 200);
  await until(() => states(one).then((states) => states.includes("silent")), SELDOM);
  const again = await several.startInstance(1);
  several.instances.splice(1, 1, again);
  assert.equal(await statusOf(again, `/rest/access/HPC/${removed}`), 404, "its first answer knows");
  assert.equal(await statusOf(again, `/rest/access/HPC/${kept}`), 200);
  note({
    section: SECTION,
    fault: "an instance is killed (`kill -9`)",
    caller: "its requests are cut off; the other instances serve",
    log: "nothing; `authserver status` of the others reports it silent after 17 s",
    after: "a new instance includes what the others did",
  });
});

/** Returns the states of all instances that one instance knows. */
async function states({ main }: Instance): Promise<readonly string[]> {
  const io = recordedIo();
  await runCommand(["status", "--json", "--config", main], io);
  return JSON.parse(io.out).instances.map(({ state }: { state: string }) => state);
}

test("a restart of the database under load loses no served use, and logins continue", async (several) => {
  const { instances, server, database } = several;
  const id = await several.share(await several.file("restarted.txt"));
  const access = `/rest/access/HPC/${id}`;
  for (const instance of instances) assert.equal(await statusOf(instance, access), 200);
  let over = false;
  const callers = instances.map(async (instance) => {
    const seen = { served: 0, refused: 0 };
    while (!over) {
      const [status, login] = [await statusOf(instance, access), await statusOf(instance, "/rest/auth/HPC")];
      assert.equal(login, 200);
      assert.ok(status === 200 || status === 503, String(status));
      if (status === 200) seen.served++;
      else seen.refused++;
    }
    return seen;
  });
  await server.stop();
  await server.run();
  for (const instance of instances) await until(async () => await statusOf(instance, access) === 200);
  over = true;
  const seen = await Promise.all(callers);
  const served = seen.reduce((sum, { served }) => sum + served, 2 * instances.length);
  const [kept] = await server.sql(
    database,
    `SELECT access_count AS count FROM authserver.share WHERE id = '${id}'`,
  );
  assert.ok(Number(kept?.["count"]) >= served, "no use that was served is forgotten");
  note({
    section: SECTION,
    fault: "the database is restarted",
    caller: "share requests wait, later 503 with `Retry-After`; logins, tokens and sessions work",
    log: "`database is away`, `database is there`",
    after: "recovers without a restart; no served use is forgotten",
  });
});

test("a one-time share is used once on several instances, even if one is killed and the database crashes", async (several) => {
  for (let round = 0; round < 4; round++) await oneTimeRound(several, round);
});

test("instances switch to the standby that replaces the database", async (several) => {
  const { instances, server: first, database } = several;
  const second = await first.standby();
  const both = {
    "persistence.host": "127.0.0.1,127.0.0.1",
    "persistence.port": `${first.port},${second.port}`,
  };
  for (const main of [several.site.main, ...instances.map(({ main }) => main)]) {
    await Deno.writeTextFile(main, withProperties(await Deno.readTextFile(main), both));
  }
  for (const { process } of instances) {
    const printed = process.printed.length;
    process.kill("SIGHUP");
    await process.prints(/settings changed/, printed);
  }
  const id = await several.share(await several.file("replicated.txt"));
  const access = `/rest/access/HPC/${id}`;
  for (const instance of instances) assert.equal(await statusOf(instance, access), 200);
  const COUNT = `SELECT access_count AS count FROM authserver.share WHERE id = '${id}'`;
  const count = async () => Number((await second.sql(database, COUNT))[0]?.["count"]);
  await until(async () => await count() === 2);
  await first.stop();
  for (const instance of instances) {
    await until(async () => await statusOf(instance, access) === 503);
    assert.equal(await statusOf(instance, "/rest/auth/HPC"), 200);
    assert.equal(await statusOf(instance, "/health/ready"), 200);
  }
  await second.sql("postgres", "SELECT pg_promote()");
  await first[Symbol.asyncDispose]();
  several.server = second;
  for (const instance of instances) await until(async () => await statusOf(instance, access) === 200);
  assert.equal(await count(), 4);
  note({
    section: SECTION,
    fault: "the database fails and a standby is promoted (`pg_promote`)",
    caller: "503 with `Retry-After` for shares until then; logins, tokens and sessions work",
    log: "`database is away`, `database is there`",
    after: "all instances connect to it without a restart; uses that were not replicated are lost",
  });
});

test("an instance works with tables of a newer version only if they permit it", async (several) => {
  const { server, database } = several;
  const access = `/rest/access/HPC/${await several.share()}`;
  await server.sql(database, "UPDATE authserver.schema_version SET version = version + 1");
  try {
    const newer = await several.startInstance(2);
    for (const instance of [...several.instances, newer]) assert.equal(await statusOf(instance, access), 200);
    newer.process.kill("SIGTERM");
    await newer.process.ended;
  } finally {
    await server.sql(database, "UPDATE authserver.schema_version SET version = version - 1");
  }
  const another = await server.database();
  await server.sql(
    another,
    "UPDATE authserver.schema_version SET version = version + 1, works_with = version + 1",
  );
  await assert.rejects(
    several.startInstance(2, { "persistence.database": another }),
    /it is too old for them/,
  );
  note({
    section: SECTION,
    fault: "the tables are one version newer than an instance during an update",
    caller: "nothing",
    log: "nothing; an instance that is too old for the tables refuses to start and says so",
    after: "both versions serve the same shares",
  });
});
