import assert from "node:assert/strict";
import { hash } from "node:crypto";
import { SILENT } from "../../../src/logging/logger.ts";
import { isHttpError } from "../../../src/model/http_error.ts";
import type { Ban } from "../../../src/throttling/ban.ts";
import type { ThrottlingUpdate } from "../../../src/throttling/memory.ts";
import { type Attempt, LoginThrottle } from "../../../src/throttling/login_throttle.ts";
import { Digests } from "../../../src/throttling/shared/digest.ts";
import { SharedThrottling } from "../../../src/throttling/shared/shared_throttling.ts";
import KNOWN_LOGIN_WRITTEN from "../../../src/store/postgres/tables/known_login_written.sql" with {
  type: "text",
};
import THROTTLING_TABLES from "../../../src/store/postgres/tables/throttling.sql" with { type: "text" };
import { type Database, DatabaseFailure, rows } from "../../../src/store/database.ts";
import { SqliteDatabase } from "../../../src/store/sqlite_database.ts";
import { basic, bearer, unsignedJwt } from "../../authentication/sample_credentials.ts";

const CONFIG = {
  enabled: true,
  maxFailures: 5,
  windowSeconds: 3600,
  baseDelaySeconds: 1,
  maxDelaySeconds: 900,
};
const SCHEMA = {
  what: "shared throttling",
  applicationId: 0x54657374,
  steps: [THROTTLING_TABLES.replaceAll("UNLOGGED ", ""), KNOWN_LOGIN_WRITTEN],
};

/** One of several instances with one database; the test runs its timers. */
class TestInstance {
  readonly throttle: LoginThrottle;
  readonly shared: SharedThrottling;
  readonly told: ThrottlingUpdate[] = [];
  readonly database: SqliteDatabase;
  away = false;
  /** Promise that changes wait for. */
  late: Promise<void> | undefined;
  /** Promise that reads wait for before they return. */
  lateReads: Promise<void> | undefined;
  readonly #tasks = new Map<number, { readonly at: number; readonly task: () => void }>();
  #last = 0;

  /** @param listeners Listeners of all instances, called for each change like notifications. */
  constructor(
    file: string,
    readonly clock: { now: number },
    instances: number,
    listeners: Set<() => void>,
  ) {
    this.database = new SqliteDatabase(file, SCHEMA, () => clock.now);
    const database: Database = {
      isOpen: true,
      read: async (work) => {
        const found = await (this.away ? gone() : this.database.read(work));
        await this.lateReads;
        return found;
      },
      change: async (work) => {
        await this.late;
        const result = await (this.away ? gone() : this.database.change(work, { asyncCommit: true }));
        for (const hear of listeners) hear();
        return result;
      },
      onChange: (listener) => void listeners.add(listener),
      version: () => this.database.version(),
      close: () => {},
    };
    this.shared = new SharedThrottling({
      database,
      secret: "of all instances",
      onUpdate: (news) => this.told.push(news),
      log: SILENT,
      elapsed: () => clock.now,
      schedule: (ms, task) => {
        const id = ++this.#last;
        this.#tasks.set(id, { at: clock.now + ms, task });
        return () => this.#tasks.delete(id);
      },
    });
    this.throttle = new LoginThrottle({
      config: CONFIG,
      log: SILENT,
      steady: () => clock.now,
      clusterMembers: () => instances,
      others: this.shared,
    });
  }

  /** Runs due timers and the work that they start. */
  async turn(): Promise<void> {
    for (const [id, { at, task }] of [...this.#tasks]) {
      if (at <= this.clock.now && this.#tasks.delete(id)) task();
    }
    await settled();
  }

  admitted(user: string, address: string): Attempt | undefined {
    try {
      const attempt = this.throttle.admit(basic(user, "x", address));
      if (!(attempt instanceof Promise)) return attempt;
      attempt.then((late) => late.undecided(), () => {}); // it comes too late for this test
      return undefined;
    } catch (error) {
      assert.ok(isHttpError(error, "ERR_TOO_MANY_FAILURES"));
      return undefined;
    }
  }

  /** Tries a wrong guess. @returns Whether it was admitted. */
  async guess(user = "ann", address = "192.0.2.17"): Promise<boolean> {
    const attempt = this.admitted(user, address);
    attempt?.failed();
    await settled();
    return attempt !== undefined;
  }

  bans(): readonly Ban[] {
    return this.throttle.memory.operator.list();
  }
}

function gone(): Promise<never> {
  return Promise.reject(new DatabaseFailure("away"));
}

/** Waits until all work is done that waits only for promises. */
async function settled(): Promise<void> {
  for (let i = 0; i < 40; i++) await Promise.resolve();
}

function test(
  name: string,
  check: (
    instances: readonly [TestInstance, TestInstance, TestInstance],
    later: (ms: number) => Promise<void>,
  ) => Promise<void>,
): void {
  Deno.test(`SharedThrottling ${name}`, async () => {
    const folder = await Deno.makeTempDir();
    const clock = { now: 1_700_000_000_000.25 };
    const listeners = new Set<() => void>();
    const create = () => new TestInstance(`${folder}/shared.sqlite`, clock, 3, listeners);
    const instances = [create(), create(), create()] as const;
    try {
      for (const { shared, throttle } of instances) await shared.follow(throttle.memory);
      await check(instances, async (ms) => {
        clock.now += ms;
        for (const instance of instances) await instance.turn();
      });
    } finally {
      for (const { shared, database } of instances) {
        shared.close();
        database.close();
      }
      await Deno.remove(folder, { recursive: true });
    }
  });
}

test(
  "applies an operator's ban on all instances at the next poll, and lifts it on all",
  async ([one, two, three], later) => {
    assert.equal(await one.shared.ban({ user: "ann", names: ["cn=ann"] }, one.clock.now + 60_000), true);
    assert.equal(await one.guess(), false);
    await later(250);
    for (const other of [two, three]) {
      assert.equal(await other.guess(), false);
      assert.deepEqual(other.bans().map(({ user, names, until }) => [user, names, until - other.clock.now]), [
        ["ann", ["cn=ann"], 59_750],
      ]);
      assert.equal(other.told.at(-1)?.allBans?.length, 1, "the supervisor is told");
    }
    assert.equal(await three.shared.lift({ user: "ann" }), 1);
    await later(250);
    for (
      const { guess, bans } of [one, two, three].map((each) => ({ guess: each.guess(), bans: each.bans() }))
    ) {
      assert.equal(await guess, true);
      assert.deepEqual(bans, []);
    }
  },
);

test("allows guesses that are spread over instances one more try for each further instance", async (instances) => {
  let alone = 0;
  while (await instances[0].guess("alone")) alone++;
  for (const order of ["in turn", "one after the other"]) {
    let tries = 0;
    for (let i = 0; i < 60; i++) {
      const at = order === "in turn" ? i % 3 : Math.floor(i / 20);
      if (await instances[at]?.guess(order, `192.0.2.${100 + order.length}`)) tries++;
    }
    assert.ok(tries >= alone && tries <= alone + 2, `${order}: ${tries} tries, ${alone} on one`);
  }
});

test("allows simultaneous guesses as many tries as on one instance, and one more for each further one", async (instances) => {
  const attempts = instances.flatMap((instance) =>
    Array.from({ length: 40 }, () => instance.admitted("ann", "192.0.2.17") ?? [])
  ).flat();
  assert.ok(attempts.length > 28 && attempts.length <= 32 + 2, String(attempts.length));
  for (const attempt of attempts) attempt.failed();
  await settled();
  for (const instance of instances) assert.equal(await instance.guess(), false);
});

test("holds further guesses until all instances have counted the last one", async ([one]) => {
  const first = one.admitted("ann", "192.0.2.17");
  first?.failed();
  const second = one.throttle.admit(basic("ann", "x", "192.0.2.17"));
  assert.ok(second instanceof Promise);
  (await second).undecided();
});

test(
  "stops waiting for a count that takes too long, and adopts it when it arrives",
  async ([one, two], later) => {
    for (let i = 0; i < 5; i++) await one.guess();
    const late = Promise.withResolvers<void>();
    two.late = late.promise;
    assert.equal(await two.guess(), true);
    assert.ok(two.throttle.admit(basic("ann", "x", "192.0.2.17")) instanceof Promise);
    await later(1000);
    two.late = undefined;
    late.resolve();
    for (let i = 0; i < 10; i++) await settled();
    assert.equal(two.throttle.memory.tables.pairs.entries(9)[0]?.[1].failures, 6);
    assert.equal(await two.guess(), false);
  },
);

test(
  "keeps no operator waiting for a locked database, and stores all bans later",
  async ([one, two], later) => {
    const late = Promise.withResolvers<void>();
    one.late = late.promise;
    const until = one.clock.now + 60_000;
    const stored = ["ann", "bob", "eve"].map((user) => one.shared.ban({ user }, until));
    await settled();
    await later(5000);
    assert.deepEqual(await Promise.all(stored), [false, false, false]);
    assert.equal(one.bans().length, 3, "they apply here");
    assert.equal(two.bans().length, 0);
    one.late = undefined;
    late.resolve();
    for (let i = 0; i < 10; i++) await settled();
    await later(1000);
    assert.equal(two.bans().length, 3);
  },
);

test("does not count failures from before a right password afterwards", async ([one, two], later) => {
  for (let i = 0; i < 3; i++) assert.equal(await one.guess(), true);
  const late = Promise.withResolvers<void>();
  two.late = late.promise;
  for (let i = 0; i < 3; i++) two.admitted("ann", "192.0.2.17")?.failed();
  await later(1000); // the attempts no longer wait for these counts
  two.admitted("ann", "192.0.2.17")?.succeeded();
  two.admitted("ann", "192.0.2.17")?.failed();
  two.late = undefined;
  late.resolve();
  for (let i = 0; i < 10; i++) await settled();
  assert.equal(two.throttle.memory.tables.pairs.failuresOf("192.0.2.17\0ann"), 1);
});

test("restarts the count after the right password, even before the others know of it", async ([one, two]) => {
  for (let i = 0; i < 5; i++) await one.guess();
  two.admitted("ann", "192.0.2.17")?.succeeded();
  assert.equal(await two.guess(), true);
  assert.equal(two.throttle.memory.tables.pairs.failuresOf("192.0.2.17\0ann"), 1);
});

test(
  "keeps a count for its wait plus a window, so that it does not forget a long wait",
  async ([one], later) => {
    const left = () =>
      one.database.read(() => rows("SELECT ends FROM failed_login WHERE counted = 'pairs'", {}))
        .then(([found]) => Number(found?.["ends"]) - one.clock.now);
    const found: number[] = [];
    for (let i = 0; i < 9; i++) {
      assert.equal(await one.guess(), true);
      found.push(Math.floor(await left() - 3600_000 + 0.5)); // the clock has a fraction
      await later(found.at(-1) ?? 0);
    }
    assert.deepEqual(found, [0, 0, 0, 0, 0, 1000, 2000, 4000, 8000]);
  },
);

test("reports a failure once if no other instance counted one", async ([one]) => {
  const told: ThrottlingUpdate[] = [];
  const alone = new LoginThrottle({
    config: CONFIG,
    log: SILENT,
    steady: () => one.clock.now,
    others: one.shared,
    onUpdate: (news) => told.push(news),
  });
  const attempt = alone.admit(basic("ann", "x"));
  assert(!(attempt instanceof Promise));
  attempt.failed();
  await settled();
  assert.equal(told.length, 1);
});

test("counts a name once for an address, whichever instances it fails on", async ([one, two, three]) => {
  for (const instance of [one, two, three, one]) await instance.guess("bob", "192.0.2.9");
  assert.equal(three.throttle.memory.tables.addresses.entries(9)[0]?.[1].failures, 1);
  assert.equal(one.throttle.memory.tables.pairs.entries(9)[0]?.[1].failures, 4);
});

test("counts each new name for an address, whichever instance it fails on", async (instances) => {
  for (let i = 0; i < 12; i++) {
    assert.equal(await instances[i % 3]?.guess(`user${i}`, "192.0.2.9"), true);
  }
  const [one] = instances;
  const [found] = await one.database.read(() =>
    rows("SELECT failures FROM failed_login WHERE counted = 'addresses'", {})
  );
  assert.equal(found?.["failures"], 12);
  assert.equal(instances[2].throttle.memory.tables.addresses.entries(9)[0]?.[1].failures, 12);
});

test("keeps a ban that an operator adds while it reads the others' bans", async ([one, two], later) => {
  const { promise, resolve } = Promise.withResolvers<void>();
  assert.equal(await two.shared.ban({ user: "bob" }, one.clock.now + 60_000), true);
  one.lateReads = promise;
  await later(250); // it reads, and waits for the result
  const told = one.shared.ban({ user: "ann" }, one.clock.now + 60_000);
  await settled();
  one.lateReads = undefined;
  resolve();
  await settled();
  assert.equal(await told, true);
  assert.equal(await one.guess(), false);
  await later(250);
  assert.equal(await two.guess(), false);
  assert.deepEqual(one.bans().map(({ user }) => user).sort(), ["ann", "bob"]);
});

test(
  "makes a user who passed on one instance known on all, and forgets earlier failures",
  async ([one, two], later) => {
    for (let i = 0; i < 3; i++) await two.guess();
    await later(50);
    one.admitted("ann", "192.0.2.17")?.succeeded();
    await later(2000);
    await later(2000);
    assert.equal(two.throttle.memory.known.has("192.0.2.17\0ann"), true);
    for (let i = 0; i < 5; i++) assert.equal(await two.guess(), true);
  },
);

test(
  "forgets a user's refused tokens on all instances once the user passed on one",
  async ([one, two], later) => {
    const token = bearer(unsignedJwt({ iss: "https://x", sub: "ann" }));
    const refused = () => assert.throws(() => two.throttle.admit(token), { code: "ERR_TOO_MANY_FAILURES" });
    for (let i = 0; i < 110; i++) {
      const attempt = await two.throttle.admit(token);
      attempt.failed();
      await settled();
      if (i >= 100) two.clock.now += 60_000;
    }
    (await two.throttle.admit(token)).failed();
    await settled();
    refused();
    two.clock.now += 50;
    (await one.throttle.admit(token)).succeeded();
    await later(2000);
    await later(2000);
    (await two.throttle.admit(token)).failed();
    (await two.throttle.admit(token)).failed();
  },
);

test(
  "makes a user with a possible namesake known on all instances, and keeps earlier failures",
  async ([one, two], later) => {
    for (let i = 0; i < 3; i++) await two.guess();
    await later(50);
    one.admitted("ann", "192.0.2.17")?.succeeded(false);
    await later(2000);
    await later(2000);
    const { known, tables: { pairs } } = two.throttle.memory;
    assert.deepEqual([known.has("192.0.2.17\0ann"), pairs.failuresOf("192.0.2.17\0ann")], [true, 3]);
  },
);

test(
  "works alone while the database is down, and then shares its bans",
  async ([one, two], later) => {
    one.away = two.away = true;
    await later(2000);
    for (let i = 0; i < 6; i++) {
      await later(1000);
      assert.equal(await one.guess(), true);
    }
    assert.equal(await one.guess(), false);
    assert.equal(await one.shared.ban({ address: "192.0.2.1" }, one.clock.now + 60_000), false);
    assert.deepEqual(one.bans().map(({ address, pending }) => [address, pending]), [["192.0.2.1", "tried"]]);
    await assert.rejects(one.shared.lift({ address: "192.0.2.1" }), DatabaseFailure);
    await later(15_000); // its poll fails without effect
    one.away = two.away = false;
    await later(15_000);
    await later(250);
    assert.deepEqual(two.bans().map(({ address }) => address), ["192.0.2.1"]);
    assert.deepEqual(one.bans().map(({ pending }) => pending), [undefined]);
    await two.shared.lift({ address: "192.0.2.1" });
    await later(250);
    assert.deepEqual(one.bans(), []);
  },
);

test(
  "merges bans from both sides of an outage to the later end and all names, and else uses the last command",
  async ([one, two], later) => {
    const hour = 3_600_000;
    const ends = () => [one, two].map((each) => each.bans().map(({ until }) => until));
    const { now } = one.clock;
    one.away = true;
    await one.shared.ban({ user: "ann", names: ["cn=ann"] }, now + hour);
    await one.shared.ban({ user: "bob" }, now + 9 * hour);
    await two.shared.ban({ user: "ann", names: ["cn=ann,ou=b"] }, now + 9 * hour);
    await two.shared.ban({ user: "bob" }, now + hour);
    await later(15_000);
    one.away = false;
    await later(15_000);
    await later(250);
    assert.deepEqual(ends(), [[now + 9 * hour, now + 9 * hour], [now + 9 * hour, now + 9 * hour]]);
    assert.deepEqual(two.bans()[0]?.names?.toSorted(), ["cn=ann", "cn=ann,ou=b"]);
    await one.shared.ban({ user: "ann" }, now + hour);
    await later(250);
    assert.deepEqual(ends(), [[now + hour, now + 9 * hour], [now + hour, now + 9 * hour]]);
  },
);

test(
  "clears failures by an operator's command on all instances, but not on those that start later",
  async ([one, two], later) => {
    for (let i = 0; i < 7; i++) await two.guess();
    assert.equal(await two.guess(), false);
    assert.ok(await one.shared.lift({ user: "ann" }) > 0);
    await later(250);
    assert.equal(await two.guess(), true);
    await later(250);
    assert.equal(two.told.filter(({ lifted }) => (lifted?.length ?? 0) > 0).length, 1);
  },
);

test("writes no form of a name against which a reader of the database could test guesses", async ([one, two]) => {
  const name = "a password in the wrong field";
  await one.guess(name);
  await two.guess(name);
  const [found, other] = await one.database.read(() =>
    rows("SELECT * FROM failed_login WHERE who_user <> ''", {})
  );
  assert.deepEqual(found?.["who_user"], other?.["who_user"]);
  const written = JSON.stringify([found, other]);
  for (const text of [name, `192.0.2.17\0${name}`]) {
    for (const guess of [text, hash("sha256", text, "base64url"), new Digests("").of(text)]) {
      assert.ok(!written.includes(guess), guess);
    }
  }
});

test("deletes expired records", async ([one], later) => {
  await one.guess();
  one.admitted("bob", "192.0.2.3")?.succeeded();
  await one.shared.ban({ user: "ann" }, one.clock.now + 1000);
  await later(2000);
  await later(25 * 3600_000);
  for (const table of ["operator_ban", "failed_login", "known_login"]) {
    const left = await one.database.read(() => rows(`SELECT * FROM ${table}`, {}));
    assert.deepEqual(left, [], table);
  }
});

test("deletes expired commands of operators in batches of 1,000", async ([one], later) => {
  const many = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2500)";
  const orders = [
    `${many} INSERT INTO operator_ban (who_user, who_address, names, ends) SELECT i, '', '[]', :clock + 1000 FROM n`,
    `${many} INSERT INTO operator_lift (id, who_user, who_address, ends) SELECT i, 'x', '', :clock + 1000 FROM n`,
  ];
  for (const order of orders) await one.database.change(() => rows(order, {}));
  const largest = { rows: 0 };
  const change = one.database.change.bind(one.database);
  one.database.change = async (work, manner) => {
    const done = await change(work, manner);
    if (Array.isArray(done)) largest.rows = Math.max(largest.rows, done.length);
    return done;
  };
  await later(600_000);
  for (const table of ["operator_ban", "operator_lift"]) {
    assert.deepEqual(await one.database.read(() => rows(`SELECT * FROM ${table}`, {})), [], table);
  }
  assert.equal(largest.rows, 1000);
});

test("shares counts again as soon as the database is back, without a pause of its own", async ([one, two]) => {
  one.away = true;
  for (let i = 0; i < 3; i++) assert.equal(await one.guess(), true);
  one.away = false;
  assert.equal(await one.guess(), true);
  const [counted] = await two.database.read(() => rows("SELECT failures FROM failed_login", {}));
  assert.equal(Number(counted?.["failures"]), 4);
});
