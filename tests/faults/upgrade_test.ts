/**
 * Rolling upgrades, instance after instance, under load: from the last version with older tables in the git
 * history to this version, and from this version to a copy of it with newer tables.
 */
import { until } from "../fixtures/deadline.ts";
import assert from "node:assert/strict";
import { runCommand } from "../../src/command/run_command.ts";
import { recordedIo } from "../command/recorded_io.ts";
import { POSTGRES, TestPostgres } from "../fixtures/postgres.ts";
import { LONG } from "../long/results.ts";
import { LONG_AGO } from "../sharing/site.ts";
import {
  type OtherVersion,
  type ServiceVersion,
  thisVersion,
  versionAfter,
  versionBefore,
} from "../system/service_version.ts";
import { runAuthserver } from "../system/service_process.ts";
import { databaseProperties, served, startInstance } from "../system/several_instances.ts";
import { BOB, createSharingSite } from "../system/sharing/sharing_system.ts";
import { note } from "./fault_table.ts";
import { type Serving, UpgradeClient } from "./upgrade_client.ts";

/** Number of instances of each version; one is enough to serve together with one of the other version. */
const INSTANCES = LONG ? 2 : 1;
/** Rounds of each kind of client with each mixture of versions. */
const ROUNDS = LONG ? 3 : 1;
/** First version of the tables with which instances share bans. */
const SHARED_BANS = 2;

/** Site for instances of two versions, with the database of the older version. */
class Upgrade implements AsyncDisposable {
  readonly #started: Serving[] = [];

  private constructor(
    readonly older: ServiceVersion,
    readonly newer: ServiceVersion,
    private readonly site: Awaited<ReturnType<typeof createSharingSite>>,
    private readonly server: TestPostgres,
  ) {}

  static async prepare(older: ServiceVersion, newer: ServiceVersion): Promise<Upgrade> {
    const server = await TestPostgres.start();
    await server.sql("postgres", "CREATE DATABASE upgrade");
    const site = await createSharingSite({
      properties: {
        ...databaseProperties(server, "upgrade"),
        "persistence.statementTimeout": "60000",
        "container.drainSeconds": "5",
      },
    });
    return new Upgrade(older, newer, site, server);
  }

  /** Runs a command of a version, that of the checkout in this process. @returns Its output. */
  async command({ run }: ServiceVersion, args: readonly string[], main = this.site.main): Promise<string> {
    if (run === runAuthserver) {
      const io = recordedIo();
      assert.equal(await runCommand([...args, "--config", main], io), 0, `${args.join(" ")}: ${io.err}`);
      return io.out + io.err;
    }
    const process = run([...args, "--config", main]);
    const status = await process.ended;
    assert.equal(status, 0, `${args.join(" ")}: ${process.printed}`);
    return process.printed;
  }

  /** Starts an instance and waits until it is ready. */
  async start({ name, run }: ServiceVersion): Promise<Serving> {
    const serving = {
      version: name,
      instance: await startInstance(this.site, this.#started.length, {}, run),
    };
    this.#started.push(serving);
    await served(serving.instance);
    return serving;
  }

  /** Stops an instance, and takes it out of service once it is not ready, as a load balancer does. */
  async replace(old: Serving, client: UpgradeClient): Promise<void> {
    old.instance.process.kill("SIGTERM");
    await until(async () => (await old.instance.ask("/health/ready", { agent: false })).status === 503);
    client.inService.delete(old);
  }

  /** Makes a file of the daemon that may be shared. */
  readonly newFile = async (name: string): Promise<string> => {
    const path = `${this.site.data}/d/${name}`;
    await Deno.writeTextFile(path, "0123456789");
    await Deno.utime(path, LONG_AGO, LONG_AGO);
    return path;
  };

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { instance: { process } } of this.#started) {
      try {
        process.kill("SIGKILL");
      } catch {
        // The process has ended.
      }
      await process.ended;
    }
    await this.server[Symbol.asyncDispose]();
    await this.site[Symbol.asyncDispose]();
  }
}

/** Asserts that all instances, of any version, apply a ban by one instance and its removal. */
async function banHolds(
  upgrade: Upgrade,
  by: readonly [ServiceVersion, Serving],
  client: UpgradeClient,
): Promise<void> {
  const [version, { instance: { main } }] = by;
  for (const [action, status] of [["add", 429], ["remove", 200]] as const) {
    await upgrade.command(version, ["ban", action, "--user", BOB[0]], main);
    for (const { instance } of client.inService) {
      await client.untilFine(async () => (await instance.ask("/rest/auth", { as: BOB })).status === status);
    }
  }
}

async function goesThrough(older: ServiceVersion, newer: ServiceVersion): Promise<void> {
  await using upgrade = await Upgrade.prepare(older, newer);
  await upgrade.command(older, ["database", "migrate"]);
  const old = [];
  for (let i = 0; i < INSTANCES; i++) old.push(await upgrade.start(older));
  await using client = new UpgradeClient(old, upgrade.newFile);
  const lasting = await client.share("lasting.txt");
  await client.rounds(ROUNDS);
  await assert.rejects(upgrade.start(newer), /this service needs \d+: run `authserver database migrate`/);
  assert.match(
    await upgrade.command(newer, ["database", "migrate"]),
    /Migrated the tables from version \d+ to \d+/,
  );
  await client.rounds(ROUNDS);
  for (const instance of old) {
    const fresh = await upgrade.start(newer);
    client.inService.add(fresh);
    if (older.tables >= SHARED_BANS && instance === old[0]) {
      await banHolds(upgrade, [older, instance], client);
      await banHolds(upgrade, [newer, fresh], client);
    }
    await client.rounds(ROUNDS);
    await upgrade.replace(instance, client);
    await client.rounds(ROUNDS);
  }
  // An older instance can return: the tables stay.
  client.inService.add(await upgrade.start(older));
  for (const { instance } of client.inService) assert.equal((await instance.ask(lasting)).text, "0123456789");
  await client.rounds(ROUNDS);
  assert.deepEqual(client.failures, []);
  assert.deepEqual([...client.served.keys()].toSorted(), [older.name, newer.name].toSorted());
  for (const { instance } of old) assert.equal(await instance.process.ended, 0);
}

const before = POSTGRES === undefined ? undefined : await versionBefore();
if (before === undefined) {
  console.warn("No commit with older tables here (git, whole history): the upgrade from it is skipped");
}

Deno.test({
  name: "a rolling upgrade from the last version with older tables loses nothing while clients continue",
  ignore: before === undefined,
}, async () => {
  await using older: OtherVersion | undefined = before;
  assert.ok(older);
  await goesThrough(older, await thisVersion());
});

Deno.test({
  name: "a rolling upgrade of this version to one with newer tables loses nothing while clients continue",
  ignore: POSTGRES === undefined,
}, async () => {
  await using newer = await versionAfter();
  await goesThrough(await thisVersion(), newer);
  note({
    section: "The database of several instances",
    fault: "instances are one version older than the tables during an update",
    caller: "nothing: one-time shares are used once, bans hold with both versions",
    log: "nothing; `authserver status` names the version of each instance",
    after: "the older version can return; the tables stay unchanged",
  });
});
