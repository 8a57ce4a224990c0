import { createHash } from "node:crypto";
import { Agent } from "node:https";
import { runCommand } from "../../src/command/run_command.ts";
import { type RunningService, startService } from "../../src/command/serving/running_service.ts";
import { formatDiagnostic } from "../../src/model/diagnostic.ts";
import { type DaemonOptions, type DaemonSimulator, startDaemon } from "../daemon_simulator/daemon.ts";
import { ApiDescription } from "../openapi/api_description.ts";
import { type Authority, createAuthority } from "../pki/authority.ts";
import { recordedIo } from "../command/recorded_io.ts";
import { until } from "../fixtures/deadline.ts";
import { ask, type Question, type Reply } from "./ask.ts";
import { runAuthserver } from "./service_process.ts";

/** User with a password, an account and a group. */
export const ALICE = ["alice", "wonder-4711"] as const;
export const ALICE_DN = "CN=Alice,O=Demo,C=EU";

/** User in the password file who is not in the map file. */
export const STRANGER = ["stranger", "nowhere-0815"] as const;

/** User with a role but without an account. */
export const ROLE_ONLY = ["roleonly", "homeless-2342"] as const;

const SALT = "Rk3_vT8mZq0LxN5w";
/** Returns a line of the password file. */
export const passwordLine = ([name, password]: readonly [string, string], dn: string) =>
  `${name}:${createHash("md5").update(SALT + password).digest("hex")}:${SALT}:${dn}\n`;

export const PASSWORDS = passwordLine(ALICE, ALICE_DN) + passwordLine(STRANGER, "CN=Stranger,O=Demo,C=EU") +
  passwordLine(ROLE_ONLY, "CN=Role Only,O=Demo,C=EU");

export const MAP = {
  [ALICE_DN]: { role: "user", xlogin: "alice", group: ["hpc", "users"] },
  "CN=Role Only,O=Demo,C=EU": { role: "user" },
};

/** Differences from a service with one logical server `HPC` of one daemon. */
export interface Setting {
  /** Logical servers and the daemons of each. */
  readonly servers?: Readonly<Record<string, readonly DaemonOptions[]>>;
  /** Further lines of the main file; `{folder}` stands for the folder of the service. */
  readonly properties?: Readonly<Record<string, string>>;
  readonly passwords?: string;
  /** Text of the map file. */
  readonly map?: string;
  /** Further files by path below the folder, such as `conf/keys.txt`. */
  readonly files?: Readonly<Record<string, string>>;
  /** Authority of service and daemons; given if others show its certificates, too. */
  readonly authority?: Authority;
}

/** Configuration on disk, and its running daemons. */
export interface Site extends AsyncDisposable {
  /** Folder of `conf/` and `logs/`. */
  readonly folder: string;
  /** Main configuration file. */
  readonly main: string;
  readonly authority: Authority;
  /** Returns the daemons of a logical server. */
  daemons(server?: string): readonly DaemonSimulator[];
  /** Returns the first daemon of a logical server. */
  daemon(server?: string): DaemonSimulator;
  /** Replaces a file below the folder by a complete new one. */
  replace(path: string, text: string): Promise<void>;
  /** Ends everything; throws if a daemon was wedged. */
  [Symbol.asyncDispose](): Promise<void>;
}

/** Service in front of simulated daemons. */
export interface SystemUnderTest extends Site {
  readonly port: number;
  /** Agent that keeps connections to the service for the next request. */
  readonly agent: Agent;
  readonly service: Pick<RunningService, "port" | "reload" | "stop" | "stopped"> & {
    readonly pid: number;
    /** Sends the signal for a reload, and does not wait for it. */
    readonly hangUp: () => void;
  };
  /** Log lines so far. */
  readonly log: readonly string[];
  /** Sends a request; fails if the service's own API description does not allow the answer. */
  ask(path: string, question?: Question): Promise<Reply>;
  /** Reads the API description anew, after a reload that may have changed the routes. */
  readDescription(): Promise<void>;
  /**
   * Waits for a log line that matches, and returns the first.
   * @param after Number of lines to skip.
   */
  logged(pattern: RegExp, after?: number): Promise<string>;
}

/** Longest wait for a log line, in milliseconds. */
const MAX_WAIT_MS = 60_000;

const CREDENTIAL_SUBJECT = "CN=AUTH,O=Demo,C=EU";

/** Writes a configuration into a temporary folder and starts its daemons. */
export async function createSite(setting: Setting = {}): Promise<Site> {
  const authority = setting.authority ?? createAuthority({ subject: "CN=Demo CA,O=Demo,C=EU" });
  const folder = await Deno.makeTempDir({ prefix: "authserver-test-" });
  const own = authority.issue({ subject: CREDENTIAL_SUBJECT, names: ["localhost", "127.0.0.1"] });
  const shown = authority.issue({ subject: "CN=UFTPD,O=Demo,C=EU" });
  const servers = new Map<string, DaemonSimulator[]>();
  for (const [name, all] of Object.entries(setting.servers ?? { HPC: [{}] })) {
    servers.set(
      name,
      await Promise.all(all.map((options) =>
        startDaemon({
          tls: { ...shown, trusted: [authority.certificate] },
          acl: CREDENTIAL_SUBJECT,
          users: { alice: { uid: 1000, home: folder, groups: ["users", "hpc"] } },
          ...options,
        })
      )),
    );
  }
  const main = `${folder}/conf/container.properties`;
  const replace = async (path: string, text: string) => {
    const made = `${folder}/.${crypto.randomUUID()}`;
    await Deno.writeTextFile(made, text, { mode: 0o600 });
    await Deno.rename(made, `${folder}/${path}`);
  };
  await Deno.mkdir(`${folder}/conf`);
  await replace("conf/auth-cert.pem", own.certificate);
  await replace("conf/auth-key.pem", own.key);
  await replace("conf/ca.pem", authority.certificate);
  await replace("conf/users.txt", setting.passwords ?? PASSWORDS);
  await replace("conf/mapfile.json", setting.map ?? JSON.stringify(MAP));
  await replace("conf/container.properties", mainFile(folder, servers, setting.properties ?? {}));
  for (const [path, text] of Object.entries(setting.files ?? {})) await replace(path, text);
  const daemons = (server = "HPC") => servers.get(server) ?? [];
  return {
    folder,
    main,
    authority,
    daemons,
    replace,
    daemon(server) {
      const [first] = daemons(server);
      if (first === undefined) throw new TypeError(`no daemon of ${server}`);
      return first;
    },
    async [Symbol.asyncDispose]() {
      const all = [...servers.values()].flat();
      await Promise.all(all.map((daemon) => daemon.close()));
      await until(() => removed(folder), { what: `${folder} is empty`, everyMs: 10 });
      all.forEach((daemon) => daemon.assertNeverWedged());
    },
  };
}

/** Removes a folder; `false` if a worker that has just ended wrote a last file into it meanwhile. */
async function removed(folder: string): Promise<boolean> {
  try {
    await Deno.remove(folder, { recursive: true });
    return true;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOTEMPTY") return false;
    throw error;
  }
}

/**
 * Starts a service and its daemons; at the end no daemon may have been wedged. The service runs in a separate
 * process with the flags of the product.
 */
export async function runService(setting: Setting = {}): Promise<SystemUnderTest> {
  return await runWith(startProcess, setting);
}

/** Like {@link runService}, but in this process with its permissions: only for tests that access workers. */
export async function runServiceHere(setting: Setting = {}): Promise<SystemUnderTest> {
  return await runWith(startHere, setting);
}

/** Starts the service of an existing site. */
export function runAt(site: Site): Promise<SystemUnderTest> {
  return systemAt(site, startProcess);
}

/** Function that starts the service of a site. @param tell Receives complete log lines with line ends. */
type Start = (site: Site, tell: (text: string) => void) => Promise<SystemUnderTest["service"]>;

async function runWith(start: Start, setting: Setting): Promise<SystemUnderTest> {
  const site = await createSite(setting);
  try {
    return await systemAt(site, start);
  } catch (error) {
    await site[Symbol.asyncDispose]();
    throw error;
  }
}

const startProcess: Start = async ({ main, folder }, tell) => {
  const child = runAuthserver(["serve", "--config", main], {
    cwd: folder,
    onLine: (line) => /^\d{4}-\d\d-\d\dT\S+Z /.test(line) && tell(`${line}\n`),
  });
  await child.prints(/\*\*\*\*\* Server started\. \*\*\*\*\*/);
  const [, port] = await child.prints(/service started .*port=(\d+)/);
  const stopped = child.ended.then((status) => {
    if (status !== 0) throw new Error(`the service ended with status ${status}:\n${child.printed}`);
  });
  stopped.catch(() => {}); // callers that wait for it get the error
  let stopping = false;
  return {
    pid: child.pid,
    port: Number(port),
    hangUp: () => child.kill("SIGHUP"),
    reload: async () => {
      const io = recordedIo();
      if (await runCommand(["reload", "--config", main], io) === 0) return;
      if (/stays in use/.test(io.err)) return;
      // The socket is about to move, so the command cannot reach it: a signal reloads, too.
      const before = child.printed.length;
      child.kill("SIGHUP");
      await child.prints(/settings changed|stays/, before);
    },
    stop: () => {
      if (!stopping) child.kill("SIGTERM");
      stopping = true;
    },
    stopped,
  };
};

const startHere: Start = async ({ main }, console) => {
  const diagnostics: string[] = [];
  const service = await startService(main, (diagnostic) => diagnostics.push(formatDiagnostic(diagnostic)), {
    console,
  })
    .catch((error) => {
      throw new Error(diagnostics.join("\n"), { cause: error });
    });
  const { port, reload, stop, stopped } = service;
  return { pid: Deno.pid, port, hangUp: () => void reload(), reload, stop, stopped };
};

async function systemAt(site: Site, start: Start): Promise<SystemUnderTest> {
  const log: string[] = [];
  const waiting = new Set<() => void>();
  const service = await start(site, (text) => {
    log.push(...text.trimEnd().split("\n"));
    for (const look of waiting) look();
  });
  const { port } = service;
  const agent = new Agent({ keepAlive: true });
  const send = (path: string, question: Question = {}) =>
    ask(`https://localhost:${port}${path}`, site.authority.certificate, { agent, ...question });
  await someDaemonAnswered(send);
  const described = async () =>
    new ApiDescription((await send("/openapi.json")).json(), ["DEMO", "Demo-Site"]);
  let description = await described();
  return {
    ...site,
    port,
    agent,
    service,
    log,
    ask: async (path, question = {}) => {
      const reply = await send(path, question);
      const { status, text, headers } = reply;
      const header = (name: string) => headers[name.toLowerCase()]?.toString();
      const method = question.method ?? (question.body === undefined ? "GET" : "POST");
      description.check({ method, path, status, header, text });
      return reply;
    },
    readDescription: async () => {
      description = await described();
    },
    logged: (pattern, after = 0) => {
      const { promise, resolve, reject } = Promise.withResolvers<string>();
      const look = () => {
        const line = log.slice(after).find((line) => pattern.test(line));
        if (line !== undefined) resolve(line);
      };
      const timer = setTimeout(
        () => reject(new Error(`nothing in the log matches ${pattern}:\n${log.slice(after).join("\n")}`)),
        MAX_WAIT_MS,
      );
      waiting.add(look);
      look();
      return promise.finally(() => {
        clearTimeout(timer);
        waiting.delete(look);
      });
    },
    async [Symbol.asyncDispose]() {
      agent.destroy();
      service.stop();
      await service.stopped;
      await site[Symbol.asyncDispose]();
    },
  };
}

/**
 * Waits until a daemon has answered: before that, no server is up. Gives up after 3 s, for tests without one.
 */
async function someDaemonAnswered(
  send: (path: string) => Promise<Reply>,
): Promise<void> {
  const end = performance.now() + 3000;
  await until(
    async () => (await send("/health/ready")).status !== 503 || performance.now() > end,
    { everyMs: 10, longestPauseMs: 500 },
  );
}

function mainFile(
  folder: string,
  servers: ReadonlyMap<string, readonly DaemonSimulator[]>,
  more: Readonly<Record<string, string>>,
): string {
  const values: Record<string, string> = {
    "container.host": "localhost",
    "container.port": "0",
    "container.httpServer.maxConnections": "1000", // a start opens a file for each
    "container.sitename": "DEMO",
    "container.security.gateway.enable": "false",
    "container.security.credential.path": `${folder}/conf/auth-cert.pem`,
    "container.security.credential.keyPath": `${folder}/conf/auth-key.pem`,
    "container.security.truststore.type": "directory",
    "container.security.truststore.directoryLocations.1": `${folder}/conf/ca.pem`,
    "container.logging.file": `${folder}/logs/authserver.log`,
    "container.security.rest.authentication.order": "PASSWORD",
    "container.security.rest.authentication.PASSWORD.class":
      "eu.unicore.services.rest.security.FilebasedAuthenticator",
    "container.security.rest.authentication.PASSWORD.file": `${folder}/conf/users.txt`,
    "container.security.attributes.order": "FILE",
    "container.security.attributes.FILE.class": "eu.unicore.services.aip.file.FileAttributeSource",
    "container.security.attributes.FILE.file": `${folder}/conf/mapfile.json`,
    "authservice.servers": [...servers.keys()].join(" "),
  };
  for (const [name, daemons] of servers) {
    values[`authservice.server.${name}.description`] = `Server ${name}`;
    for (const [index, daemon] of daemons.entries()) {
      const prefix = `authservice.server.${name}.${daemons.length > 1 ? `${index + 1}.` : ""}`;
      values[`${prefix}host`] = daemon.host;
      values[`${prefix}port`] = String(daemon.listenPort);
      values[`${prefix}commandHost`] = daemon.host;
      values[`${prefix}commandPort`] = String(daemon.commandPort);
    }
  }
  for (const [key, value] of Object.entries(more)) values[key] = value.replaceAll("{folder}", folder);
  return Object.entries(values).map(([key, value]) => `${key}=${value}\n`).join("");
}

/** Returns lines of a main file with these properties in place of those with the same keys. */
export function withProperties(text: string, properties: Readonly<Record<string, string>>): string {
  const lines = text.trimEnd().split("\n").filter((line) =>
    !Object.hasOwn(properties, line.split("=")[0] ?? "")
  );
  return [...lines, ...Object.entries(properties).map(([key, value]) => `${key}=${value}`), ""].join("\n");
}

/**
 * Starts a service for tests that differ only in their lines and leave nothing behind: a reload takes half
 * of the processor time of a start.
 */
export async function runReloadedService(setting: Setting) {
  // Only the command reloads it, so the awaited reload is the only one.
  const system = await runService({
    ...setting,
    properties: { ...setting.properties, "container.runtimeConfigurationUpdate": "false" },
  });
  const main = await Deno.readTextFile(system.main);
  let inUse = main;
  return {
    ...system,
    /** Replaces the lines of an earlier call by others, and waits until these are in use. */
    async reloadWith(properties: Readonly<Record<string, string>>): Promise<SystemUnderTest> {
      const lines = Object.keys(properties).length === 0 ? main : withProperties(main, properties);
      const text = lines.replaceAll("{folder}", system.folder);
      if (text === inUse) return system;
      await system.replace("conf/container.properties", text);
      const io = recordedIo();
      if (await runCommand(["reload", "--config", system.main], io) !== 0) throw new Error(io.err);
      await system.readDescription();
      inUse = text;
      return system;
    },
  };
}

/** Waits until each daemon of a server has answered its first ping. */
export async function settled(system: SystemUnderTest, server = "HPC"): Promise<void> {
  await until(async () => {
    const { uftpdServerVersion } = (await system.ask(`/rest/auth/${server}`, { as: ALICE })).json();
    return uftpdServerVersion !== "n/a" &&
      system.daemons(server).every(({ requests }) => requests.length > 0);
  }, { everyMs: 10 });
}
