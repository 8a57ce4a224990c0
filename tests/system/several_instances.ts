/**
 * Several instances of one service with a real PostgreSQL, in separate processes with the product's flags.
 */
import { until } from "../fixtures/deadline.ts";
import assert from "node:assert/strict";
import { Agent } from "node:https";
import { type PostgresSettings, TestPostgres } from "../fixtures/postgres.ts";
import { LONG_AGO } from "../sharing/site.ts";
import { ask, type Question, type Reply } from "./ask.ts";
import { ALICE, type Setting, type Site, withProperties } from "./running_service.ts";
import { runAuthserver, type ServiceProcess } from "./service_process.ts";
import { createSharingSite, EVERYBODY } from "./sharing/sharing_system.ts";

/** Instance as a test sees it. */
export interface Instance {
  readonly process: ServiceProcess;
  readonly port: number;
  /** Main configuration file. */
  readonly main: string;
  /**
   * Sends a request, on a kept-alive connection unless `agent` is `false`; pass that while the instance may
   * end or drain.
   */
  ask(path: string, question?: Question): Promise<Reply>;
}

/** Settings of the instances. */
interface SeveralSetting {
  readonly instances?: number;
  readonly postgres?: PostgresSettings;
  /** Further lines of all main files. */
  readonly properties?: Setting["properties"];
  /** Issuer of the certificates; default: a new authority. */
  readonly authority?: Setting["authority"];
}

/** Returns the properties of a main file that select the database. */
export function databaseProperties(server: TestPostgres, database: string): Record<string, string> {
  return {
    "persistence.class": "eu.unicore.example.PGSQLPersist",
    "persistence.host": "127.0.0.1",
    "persistence.port": String(server.port),
    "persistence.database": database,
    "persistence.user": server.login(database).user,
    "persistence.pgsql.useSSL": "false",
  };
}

/**
 * Starts an instance with the configuration of a site, and its own log and control socket.
 * @param number Distinguishes it from the others.
 * @param more Lines that differ from the others'.
 * @param start Runs the program; default: from source.
 */
export async function startInstance(
  { folder, main: common, authority }: Pick<Site, "folder" | "main" | "authority">,
  number: number,
  more: Readonly<Record<string, string>> = {},
  start: typeof runAuthserver = runAuthserver,
): Promise<Instance> {
  const own = {
    "container.logging.file": `${folder}/logs/instance${number}.log`,
    "container.control.socket": `${folder}/instance${number}.sock`,
    ...more,
  };
  const text = withProperties(await Deno.readTextFile(common), own);
  const main = `${folder}/conf/instance${number}.properties`;
  await Deno.writeTextFile(main, text, { mode: 0o600 });
  const process = start(["serve", "--config", main], { cwd: folder });
  const [, port = ""] = await process.prints(/service started .*port=(\d+)/);
  await process.prints(/\*\*\*\*\* Server started\. \*\*\*\*\*/);
  const agent = new Agent({ keepAlive: true });
  void process.ended.then(() => agent.destroy());
  return {
    process,
    main,
    port: Number(port),
    ask: (path, question) =>
      ask(`https://localhost:${port}${path}`, authority.certificate, { agent, ...question }),
  };
}

/** Instances, their database and the daemon that they share. */
export class SeveralInstances implements AsyncDisposable {
  readonly instances: Instance[] = [];

  private constructor(
    readonly site: Site & { readonly data: string },
    public server: TestPostgres,
    readonly database: string,
  ) {}

  static async start(
    { instances = 3, postgres = {}, properties = {}, authority }: SeveralSetting = {},
  ): Promise<SeveralInstances> {
    const server = await TestPostgres.start(postgres);
    const database = await server.database();
    const site = await createSharingSite({
      authority,
      properties: {
        ...databaseProperties(server, database),
        "container.security.throttling.baseDelay": "600",
        ...properties,
      },
    });
    const several = new SeveralInstances(site, server, database);
    try {
      const started = Array.from({ length: instances }, (_, i) => several.startInstance(i));
      several.instances.push(...await Promise.all(started));
      for (const instance of several.instances) await served(instance);
      return several;
    } catch (error) {
      await several[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** Starts an instance, or replaces the ended one of a number. @param more Lines that only this one has. */
  startInstance(
    number: number,
    more: Readonly<Record<string, string>> = {},
    start?: typeof runAuthserver,
  ): Promise<Instance> {
    return startInstance(this.site, number, more, start);
  }

  /** First instance. */
  get one(): Instance {
    const [first] = this.instances;
    assert.ok(first);
    return first;
  }

  /** Creates a share of Alice's for everybody. @returns Its id. */
  async share(
    path = "d/ten.txt",
    fields: Readonly<Record<string, unknown>> = {},
    at = this.one,
  ): Promise<string> {
    const body = { path: `${this.site.data}/${path}`, user: EVERYBODY, access: "READ", ...fields };
    let reply = await at.ask("/rest/share/HPC", { as: ALICE, body });
    // On a busy machine, a database that has just started may exceed its time limit.
    await until(async () => {
      if (reply.status === 503) reply = await at.ask("/rest/share/HPC", { as: ALICE, body });
      return reply.status !== 503;
    });
    assert.equal(reply.status, 201, reply.text);
    return String(reply.headers.location).split("/").at(-1) ?? "";
  }

  /** Creates a file to share. @returns Its path. */
  async file(name: string): Promise<string> {
    const path = `${this.site.data}/d/${name}`;
    await Deno.writeTextFile(path, "0123456789");
    await Deno.utime(path, LONG_AGO, LONG_AGO);
    return `d/${name}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.server.thaw().catch(() => {}); // it may have ended
    for (const { process } of this.instances) kill(process, "SIGCONT");
    for (const { process } of this.instances) kill(process, "SIGTERM");
    await Promise.all(this.instances.map(({ process }) => process.ended));
    await this.server[Symbol.asyncDispose]();
    await this.site[Symbol.asyncDispose]();
  }
}

/** Sends a signal to a process that may have ended. */
function kill(process: ServiceProcess, signal: Deno.Signal): void {
  try {
    process.kill(signal);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
  }
}

/** Waits until an instance is ready for clients. */
export async function served(instance: Instance): Promise<void> {
  await until(async () => (await instance.ask("/health/ready")).status === 200, { everyMs: 10 });
}
