/** What is done to instances, their connections and their database in a campaign. */
import { FAKETIME, offBy } from "../fixtures/wrong_clock.ts";
import { SeveralInstances } from "../system/several_instances.ts";
import { DatabaseProxy } from "./database_proxy.ts";

/** A random number from 0 to below a bound, from the seed of the campaign. */
export type Draw = (below: number) => number;

/** Numbers of a linear generator: the same for the same seed. */
export function drawFrom(seed: number): Draw {
  let state = (seed * 2654435761 + 12345) % 2 ** 32;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor(state / 2 ** 32 * below);
  };
}

export const INSTANCES = 3;

/** The role of the database that instances log in with: limits of connections hold for it. */
const ROLE = "limited";

/** Instances that each reach the database by a proxy of their own. */
export class Cluster implements AsyncDisposable {
  private constructor(readonly several: SeveralInstances, readonly proxies: readonly DatabaseProxy[]) {}

  static async start(): Promise<Cluster> {
    const several = await SeveralInstances.start({
      instances: 0,
      properties: { "persistence.user": ROLE, "share.maxPerUser": "0" },
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
    const cluster = new Cluster(several, proxies);
    for (let i = 0; i < INSTANCES; i++) several.instances.push(await cluster.startInstance(i));
    return cluster;
  }

  /** Starts an instance; the clock of the last one is three hours ahead. */
  startInstance(number: number) {
    const own = { "persistence.port": String(this.proxies[number]?.port) };
    const isWrong = number === INSTANCES - 1 && FAKETIME !== undefined;
    return this.several.startInstance(number, own, isWrong ? offBy("+3h") : undefined);
  }

  /** Limits the connections of all instances together, and ends those that they have. */
  async limitConnections(most: number): Promise<void> {
    const { server, database } = this.several;
    await server.sql(database, `ALTER ROLE ${ROLE} CONNECTION LIMIT ${most}`);
    if (most < 0) return;
    await server.sql(
      database,
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '${ROLE}'`,
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.several[Symbol.asyncDispose]();
    for (const proxy of this.proxies) await proxy[Symbol.asyncDispose]();
  }
}

/** A fault: it begins, lasts, and ends when the promise resolves. */
interface Fault {
  readonly name: string;
  readonly strike: (cluster: Cluster, draw: Draw, last: () => Promise<void>) => Promise<void>;
}

function byProxy(name: string, manner: "hang" | "reset" | "refuse"): Fault {
  return {
    name,
    async strike({ proxies }, draw, last) {
      const only = draw(proxies.length + 1); // beyond the last: all of them
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
];
