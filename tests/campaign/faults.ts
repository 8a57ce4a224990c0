/** Faults of instances, of their connections and of their database in a campaign. */
import { FAKETIME, offBy } from "../fixtures/wrong_clock.ts";
import { until } from "../fixtures/deadline.ts";
import type { TestPostgres } from "../fixtures/postgres.ts";
import { mountSmallDisk, type SmallDisk } from "../faults/small_disk.ts";
import { type Instance, SeveralInstances } from "../system/several_instances.ts";
import { DatabaseProxy } from "./database_proxy.ts";

/** Source of random integers from 0 to below a bound, from the seed of the campaign. */
export type Draw = (below: number) => number;

/** Returns a linear congruential generator: equal seeds give equal numbers. */
export function drawFrom(seed: number): Draw {
  let state = (seed * 2654435761 + 12345) % 2 ** 32;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor(state / 2 ** 32 * below);
  };
}

export const INSTANCES = 3;

/** Name of the pause without a fault, in which each instance must learn what the others did. */
export const QUIET = "nothing fails";

/** Database role of the instances, to which connection limits apply. */
const ROLE = "limited";

/** Size of the disk of the database, in KiB: room for two servers, a primary and its standby. */
const DISK_KIB = 1024 * 1024;

/** Instances that each reach the database through their own proxy. */
export class Cluster implements AsyncDisposable {
  private constructor(
    readonly several: SeveralInstances,
    readonly proxies: readonly DatabaseProxy[],
    /** Disk of the database, if one can be mounted. */
    readonly disk: SmallDisk | undefined,
  ) {}

  static async start(): Promise<Cluster> {
    const disk = await mountSmallDisk(DISK_KIB);
    if (disk !== undefined) await Deno.chmod(disk.path, 0o777);
    else console.warn("campaign: no disk is filled, which takes root and tmpfs");
    const several = await SeveralInstances.start({
      instances: 0,
      postgres: { place: disk?.path, settings: { max_wal_size: "64MB", min_wal_size: "32MB" } },
      properties: {
        "persistence.user": ROLE,
        "share.maxPerUser": "0",
        // Clients send revoked tokens many times, to check that each is refused.
        "container.security.throttling.maxFailures": "10000",
      },
    });
    const { server, database } = several;
    await server.sql(
      database,
      `CREATE ROLE ${ROLE} LOGIN; GRANT USAGE ON SCHEMA authserver TO ${ROLE};
       GRANT ALL ON ALL TABLES IN SCHEMA authserver TO ${ROLE};
       GRANT ALL ON ALL SEQUENCES IN SCHEMA authserver TO ${ROLE}`,
    );
    const proxies: DatabaseProxy[] = [];
    for (let i = 0; i < INSTANCES; i++) proxies.push(await DatabaseProxy.start(server.port));
    const cluster = new Cluster(several, proxies, disk);
    for (let i = 0; i < INSTANCES; i++) several.instances.push(await cluster.startInstance(i));
    return cluster;
  }

  instance(number: number): Instance {
    const instance = this.several.instances[number];
    if (instance === undefined) throw new Error(`there is no instance ${number}`);
    return instance;
  }

  /** Starts an instance; the clock of the last one is three hours ahead. */
  startInstance(number: number) {
    const own = { "persistence.port": String(this.proxies[number]?.port) };
    const isWrong = number === INSTANCES - 1 && FAKETIME !== undefined;
    return this.several.startInstance(number, own, isWrong ? offBy("+3h") : undefined);
  }

  /** Limits the connections of all instances together, and closes their open connections. */
  async limitConnections(most: number): Promise<void> {
    const { server, database } = this.several;
    await server.sql(database, `ALTER ROLE ${ROLE} CONNECTION LIMIT ${most}`);
    if (most < 0) return;
    await server.sql(
      database,
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '${ROLE}'`,
    );
  }

  /** Creates a standby that has everything that the database acknowledges. */
  async standby(): Promise<TestPostgres> {
    const { server } = this.several;
    const standby = await server.standby();
    await server.sql("postgres", "ALTER SYSTEM SET synchronous_standby_names = '*'");
    await server.sql("postgres", "SELECT pg_reload_conf()");
    const follows = `SELECT count(*)::int AS n FROM pg_stat_replication
       WHERE sync_state = 'sync' AND state = 'streaming' AND flush_lsn >= pg_current_wal_flush_lsn()`;
    await until(async () => (await server.sql("postgres", follows))[0]?.["n"] === 1, { everyMs: 20 });
    return standby;
  }

  /** Promotes a standby to replace the database, which has ended. */
  async promote(standby: TestPostgres): Promise<void> {
    await standby.sql("postgres", "SELECT pg_promote()");
    await this.several.server[Symbol.asyncDispose]();
    this.several.server = standby;
    for (const proxy of this.proxies) proxy.target = standby.port;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.several[Symbol.asyncDispose]();
    for (const proxy of this.proxies) await proxy[Symbol.asyncDispose]();
    await this.disk?.[Symbol.asyncDispose]();
  }
}

/** Fault that begins, lasts, and ends when the promise of `strike` resolves. */
interface Fault {
  readonly name: string;
  readonly strike: (cluster: Cluster, draw: Draw, last: () => Promise<void>) => Promise<void>;
}

function byProxy(name: string, manner: "hang" | "reset" | "refuse"): Fault {
  return {
    name,
    async strike({ proxies }, draw, last) {
      const only = draw(proxies.length + 1); // one more than the last index selects all
      const struck = only < proxies.length ? proxies.slice(only, only + 1) : proxies;
      for (const proxy of struck) proxy.set(manner);
      await last();
      for (const proxy of struck) proxy.set("pass");
    },
  };
}

export const FAULTS: readonly Fault[] = [
  {
    name: "an instance is killed",
    async strike(cluster, draw, last) {
      const number = draw(INSTANCES);
      const { instances } = cluster.several;
      instances[number]?.process.kill("SIGKILL");
      await instances[number]?.process.ended;
      await last();
      instances[number] = await cluster.startInstance(number);
    },
  },
  {
    name: "an instance is stopped (SIGSTOP)",
    async strike({ several }, draw, last) {
      const process = several.instances[draw(INSTANCES)]?.process;
      process?.kill("SIGSTOP");
      await last();
      process?.kill("SIGCONT");
    },
  },
  byProxy("connections to the database hang", "hang"),
  byProxy("connections to the database are reset once", "reset"),
  byProxy("connections to the database are refused", "refuse"),
  {
    name: "the database accepts one connection of all instances",
    async strike(cluster, _draw, last) {
      await cluster.limitConnections(1);
      await last();
      await cluster.limitConnections(-1);
    },
  },
  {
    name: "the database crashes",
    async strike({ several: { server } }, _draw, last) {
      await server.stop();
      await last();
      await server.run();
    },
  },
  {
    name: "the database is stopped (SIGSTOP)",
    async strike({ several: { server } }, _draw, last) {
      await server.freeze();
      await last();
      await server.thaw();
    },
  },
  {
    name: "a standby takes the place of the database",
    async strike(cluster, _draw, last) {
      const standby = await cluster.standby();
      await cluster.several.server.stop();
      await last();
      await cluster.promote(standby);
    },
  },
  {
    name: "the disk of the database is full",
    async strike({ disk, several }, _draw, last) {
      await disk?.fill();
      await last();
      await disk?.empty();
      await several.server.revive();
    },
  },
  {
    name: "sessions of the database are ended, again and again",
    async strike({ several: { server, database } }, _draw, last) {
      let isOver = false;
      const ended = last().finally(() => isOver = true);
      while (!isOver) {
        await server.sql(
          database,
          `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '${ROLE}'
             AND random() < 0.5`,
        );
      }
      await ended;
    },
  },
  {
    name: "the database waits for a standby that is away",
    async strike({ several: { server } }, _draw, last) {
      await server.sql("postgres", "ALTER SYSTEM SET synchronous_standby_names = 'absent'");
      await server.sql("postgres", "SELECT pg_reload_conf()");
      await last();
      await server.sql("postgres", "ALTER SYSTEM SET synchronous_standby_names = ''");
      await server.sql("postgres", "SELECT pg_reload_conf()");
    },
  },
  {
    name: "instances reload, half of the time without the database",
    async strike(cluster, draw, last) {
      const { several: { instances }, proxies } = cluster;
      const manner = draw(2) === 0 ? "pass" : "refuse";
      for (const proxy of proxies) proxy.set(manner);
      for (const { process } of instances) process.kill("SIGHUP");
      await last();
      for (const { process } of instances) process.kill("SIGHUP");
      for (const proxy of proxies) proxy.set("pass");
    },
  },
  { name: QUIET, strike: (_cluster, _draw, last) => last() },
];
