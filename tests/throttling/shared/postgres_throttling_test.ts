import { until } from "../../fixtures/deadline.ts";
import assert from "node:assert/strict";
import { InstanceRegister } from "../../../src/instances/instance_register.ts";
import { SILENT } from "../../../src/logging/logger.ts";
import { realTime, type Schedule, steadyClock, stopwatch } from "../../../src/model/clock.ts";
import { isHttpError } from "../../../src/model/http_error.ts";
import { LoginThrottle } from "../../../src/throttling/login_throttle.ts";
import { SharedThrottling } from "../../../src/throttling/shared/shared_throttling.ts";
import { DatabaseRecordStore } from "../../../src/store/database_record_store.ts";
import { PostgresDatabase } from "../../../src/store/postgres/postgres_database.ts";
import { readRevocations } from "../../../src/store/postgres/changed_records.ts";
import { CachedRecords } from "../../../src/store/cached_records.ts";
import { basic } from "../../authentication/sample_credentials.ts";
import { POSTGRES, TestPostgres } from "../../fixtures/postgres.ts";
import { record } from "../../store/conformance.ts";

const CONFIG = {
  enabled: true,
  maxFailures: 5,
  windowSeconds: 3600,
  baseDelaySeconds: 600,
  maxDelaySeconds: 900,
};

/** Longest wait of attempts for a count, in milliseconds. */
const MAX_WAIT_MS = 1000;

/** Three instances with one real database. */
class Instances implements AsyncDisposable {
  private constructor(
    readonly server: TestPostgres,
    readonly all: readonly Awaited<ReturnType<typeof instance>>[],
  ) {}

  static async create(): Promise<Instances> {
    const server = await TestPostgres.start();
    const name = await server.database();
    return new Instances(server, [
      await instance(server, name, "a"),
      await instance(server, name, "b"),
      await instance(server, name, "c"),
    ]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { database, shared, register, records } of this.all) {
      shared.close();
      register.close();
      records.close();
      database.close();
    }
    await this.server[Symbol.asyncDispose]();
  }
}

async function instance(server: TestPostgres, name: string, id: string) {
  const database = new PostgresDatabase({ ...server.options(name), timeoutMs: 5_000 });
  // Waits for the database and a count, however slow the machine is.
  const schedule: Schedule = (ms, task) => realTime(ms === MAX_WAIT_MS ? 60_000 : ms, task);
  const shared = new SharedThrottling({
    database,
    secret: "of all instances",
    onUpdate: () => {},
    log: SILENT,
    elapsed: stopwatch,
    schedule,
  });
  const register = new InstanceRegister({
    database,
    own: { id, name: `${id}:9000`, version: "1", configuration: "x", upSince: 0 },
    log: SILENT,
  });
  const throttle = new LoginThrottle({
    config: CONFIG,
    log: SILENT,
    steady: steadyClock,
    others: shared,
    clusterMembers: () => register.alive,
  });
  const records = new CachedRecords(new DatabaseRecordStore(database), {
    kinds: ["revoked-token"],
    version: () => database.version("revocation"),
    isReachable: () => database.isReachable,
    session: () => database.sessions,
    read: (since) => readRevocations(database, ["revoked-token"], since),
    elapsed: stopwatch,
    log: SILENT,
  });
  await Promise.all([shared.follow(throttle.memory), register.start(), records.start()]);
  /** Tries a wrong guess. @returns Whether it was admitted. */
  const guess = async (user: string) => {
    try {
      const attempt = await throttle.admit(basic(user, "x"));
      await new Promise((resolve) => setTimeout(resolve, 1));
      attempt.failed();
      return true;
    } catch (error) {
      assert.ok(isHttpError(error, "ERR_TOO_MANY_FAILURES"));
      return false;
    }
  };
  return { database, shared, register, throttle, records, guess };
}

Deno.test({
  name: "instances with one PostgreSQL share bans, failed logins and revocations, and know each other",
  ignore: POSTGRES === undefined,
}, async (t) => {
  await using instances = await Instances.create();
  const { all } = instances;
  const [one, two, three] = all;
  assert.ok(one && two && three);

  await t.step(
    "each instance knows the number of instances",
    () => until(() => all.every(({ register }) => register.alive === 3)),
  );

  await t.step("a ban begins and ends on all instances", async () => {
    assert.equal(await one.shared.ban({ user: "ann", names: ["cn=ann"] }, Date.now() + 60_000), true);
    await until(() => all.every(({ throttle }) => throttle.memory.operator.list().length === 1));
    assert.deepEqual(three.throttle.memory.operator.list()[0]?.names, ["cn=ann"]);
    assert.equal(await two.shared.lift({ user: "ann" }), 1);
    await until(() => all.every(({ throttle }) => throttle.memory.operator.list().length === 0));
  });

  await t.step(
    "guesses spread over instances, simultaneous or not, get one more try for each further instance",
    async () => {
      for (const user of ["bob", "carl", "dora"]) {
        const tries = await Promise.all(
          Array.from({ length: 60 }, (_, i) => all[i % 3]?.guess(user) ?? false),
        );
        const made = tries.filter((tried) => tried).length;
        assert.ok(made >= 6 && made <= 32 + 2, `${made} at once`);
        one.throttle.memory.tables.addresses.forgetWhere(() => true);
      }
      await one.shared.lift({ address: "192.0.2.17" });
      await until(() => all.every(({ throttle }) => throttle.memory.tables.addresses.size === 0));
      let made = 0;
      for (let i = 0; i < 30; i++) if (await all[i % 3]?.guess("erik")) made++;
      assert.ok(made >= 6 && made <= 8, `${made} one after the other`);
    },
  );

  await t.step("a revocation reaches all instances", async () => {
    await one.records.put("revoked-token", record("gone", { ends: 4_000_000_000 }), 9);
    await until(async () => (await three.records.get("revoked-token", "gone")) !== undefined);
  });

  await t.step("while the database is down, each works alone, and shares its bans afterwards", async () => {
    await instances.server.stop();
    await until(() => all.every(({ database }) => !database.isReachable));
    assert.equal(await two.shared.ban({ user: "fred" }, Date.now() + 600_000), false);
    assert.equal(two.throttle.memory.operator.list().length, 1);
    assert.notEqual(await three.records.get("revoked-token", "gone"), undefined);
    assert.ok(three.records.staleMs > 0);
    assert.equal(await one.guess("gina"), true);
    await instances.server.run();
    await until(() => all.every(({ throttle }) => throttle.memory.operator.list().length === 1));
    await until(() => three.records.staleMs === 0);
  });
});
