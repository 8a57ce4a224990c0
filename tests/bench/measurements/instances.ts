import process from "node:process";
import { balancerProperties, HAPROXY, startBalancer } from "../../fixtures/haproxy.ts";
import { TestPostgres } from "../../fixtures/postgres.ts";
import { POSTGRES } from "../../fixtures/postgres_programs.ts";
import { ask } from "../../system/ask.ts";
import { ALICE } from "../../system/running_service.ts";
import { databaseProperties } from "../../system/several_instances.ts";
import { EVERYBODY } from "../../system/sharing/sharing_system.ts";
import { BASIC, type BenchSite, SHARING, startBenchSite } from "../bench_site.ts";
import { warmUp } from "../comparison.ts";
import { type Figure, type Measurement, median } from "../figure.ts";
import { type Demands, modelled } from "../instances_model.ts";
import { cpuOfTree } from "../process_tree.ts";
import { type Load, runWrk } from "../wrk.ts";
import { bareRound } from "./sessions.ts";

const CONNECTIONS = 32;
/** Short rounds with each store, in turn and many: a disturbance changes a cost by more than the store does. */
const ROUNDS = 24;
const SECONDS = { login: 1, others: 3 } as const;
/** Requests until hot code is compiled. */
const WARM_UP = { logins: 30_000, others: 1500 } as const;
/** Concurrent claims. */
const CLAIMS = 8;
const PEERS = "container.httpServer.proxyProtocol.trustedPeers";
/** Cores of the database's machine in the model. */
const DATABASE_CORES = 4;

const LACKS = [
  ...(POSTGRES === undefined ? ["postgresql"] : []),
  ...(HAPROXY === undefined ? ["haproxy"] : []),
];

export const instances: Measurement = {
  name: "instances",
  summary:
    "Several instances with PostgreSQL: cost of a login and of a claim on a share, and a model of more instances",
  note:
    `The rows of the model are computed, not measured: exact mean value analysis of a closed network with 32 clients per instance. Each client sends its next request on a new connection when it has its answer. The input are the processor times above. The model assumes a machine like this one for each instance, for the database (${DATABASE_CORES} cores) and for HAProxy (one thread); a core each for the edge and the core of an instance; an even spread by the balancer; exponential service times; and no wait for locks, disks or the network. "limited by" names the bottleneck with many clients: more instances help only if it is the edges or the cores. A daemon serves one command after the other: if it is the bottleneck, add daemons.`,
  lacks: LACKS,
  run: measureInstances,
};

async function measureInstances(): Promise<readonly Figure[]> {
  await using server = await TestPostgres.start({ durable: true });
  const pid = await server.pid();
  const database = await server.database();
  await using alone = await startBenchSite(SHARING);
  await using shared = await startBenchSite({
    properties: {
      ...SHARING.properties,
      ...databaseProperties(server, database),
      [PEERS]: (await balancerProperties())[PEERS] ?? "",
    },
  });
  const logins = await loginFigures({ alone, shared, pid });
  const claims = await claimFigures(server, await server.database(), pid);
  return [...logins, ...claims, ...await modelFigures(shared, pid)];
}

/** Measures logins with both stores, in turn. @param of.pid Process of the database server. */
async function loginFigures(
  { alone, shared, pid }: { readonly alone: BenchSite; readonly shared: BenchSite; readonly pid: number },
): Promise<readonly Figure[]> {
  const load = { connections: CONNECTIONS, seconds: SECONDS.login, headers: { Authorization: BASIC } };
  const round = async ({ url, process: instance }: BenchSite, others: () => number) => {
    const used = () => (instance.cpu().total ?? 0) + others();
    const before = used();
    const requests = await succeeded({ ...load, url: `${url}/rest/auth` });
    return (used() - before) * 1000 / requests;
  };
  for (const { url } of [alone, shared]) {
    await warmUp((seconds) => runWrk({ ...load, seconds, url: `${url}/rest/auth` }), WARM_UP.logins);
  }
  const rounds: { readonly sqlite: number; readonly postgres: number }[] = [];
  for (let i = 0; i < ROUNDS; i++) {
    const sqlite = () => round(alone, () => 0);
    const postgres = () => round(shared, () => cpuOfTree(pid));
    // The second store may find a warmer machine, or a busier one.
    if (i % 2 === 0) rounds.push({ sqlite: await sqlite(), postgres: await postgres() });
    else {
      const second = await postgres();
      rounds.push({ sqlite: await sqlite(), postgres: second });
    }
  }
  const of = (pick: (round: typeof rounds[number]) => number) => median(rounds.map(pick));
  return [
    {
      what: "processor time of a login with PostgreSQL, relative to SQLite",
      value: of(({ sqlite, postgres }) => postgres / sqlite),
      unit: "×",
      target: { atMost: 1.05 },
    },
    {
      what: "login with PostgreSQL, including its server",
      value: of(({ postgres }) => postgres),
      unit: "µs",
    },
    { what: "login with SQLite", value: of(({ sqlite }) => sqlite), unit: "µs" },
  ];
}

/** Measures claims without the rest of their requests. */
async function claimFigures(server: TestPostgres, database: string, pid: number): Promise<readonly Figure[]> {
  const script = new URL("../bare_claims.ts", import.meta.url).pathname;
  const args = [
    String(server.port),
    database,
    server.login(database).user,
    String(CLAIMS),
    String(SECONDS.others),
  ];
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", "--quiet", "--no-check", "--allow-all", script, ...args],
    stdout: "piped",
  }).spawn();
  const used: Record<string, number> = {};
  const said: Record<string, readonly number[]> = {};
  for await (const text of child.stdout.pipeThrough(new TextDecoderStream())) {
    for (const line of text.trim().split("\n")) {
      const [phase = "", ...numbers] = line.split(" ");
      used[phase] = cpuOfTree(pid);
      said[phase] = numbers.map(Number);
    }
  }
  if (!(await child.status).success) throw new Error("claims failed");
  const [aloneClaims = 0, aloneMs = 0] = said["alone"] ?? [];
  const [claims = 0, , cpuMs = 0] = said["busy"] ?? [];
  const ofServer = ((used["busy"] ?? 0) - (used["alone"] ?? 0)) / claims;
  return [
    {
      what: "processor time of a claim, instance and PostgreSQL",
      value: cpuMs / claims + ofServer,
      unit: "ms",
      target: { atMost: 3 },
    },
    { what: "share of PostgreSQL in a claim", value: ofServer, unit: "ms" },
    { what: "duration of a claim without concurrent claims", value: aloneMs / aloneClaims, unit: "ms" },
  ];
}

/** Measures the service times of requests, and models the rates of several instances with them. */
async function modelFigures(bench: BenchSite, pid: number): Promise<readonly Figure[]> {
  const { site, port } = bench;
  const ca = site.authority.certificate;
  await using balancer = await startBalancer([port], { ca });
  const origin = `https://localhost:${balancer.port}/rest`;
  const headers = { Authorization: BASIC };
  const loads = {
    login: { url: `${origin}/auth`, headers },
    session: { url: `${origin}/auth/HPC`, headers, body: '{"serverPath":""}' },
    "use of a share": { url: await sharedFile(bench, origin), headers: {} },
  };
  const daemon = await daemonTime(site);
  const figures: Figure[] = [{
    what: "processor time of a daemon and of the service for a session",
    value: daemon,
    unit: "ms",
  }];
  const demands = new Map<string, Demands>();
  for (const [what, load] of Object.entries(loads)) {
    const found = await demandsOf(bench, { pid, balancer: balancer.pid }, load);
    demands.set(what, { ...found, daemon: what === "login" ? 0 : daemon });
    for (const [part, name] of PARTS) {
      figures.push({ what: `${what}, new connection: ${name}`, value: found[part] * 1000, unit: "µs" });
    }
  }
  const model = (kind: string, what: string, daemons: number) => {
    const of = demands.get(kind);
    return of === undefined ? [] : modelled(what, of, { databaseCores: DATABASE_CORES, daemons });
  };
  return [
    ...figures,
    ...model("login", "model: logins", 1),
    ...model("session", "model: sessions, one daemon", 1),
    ...model("session", "model: sessions, 16 daemons", 16),
    ...model("use of a share", "model: uses of shares, 16 daemons", 16),
  ];
}

/**
 * Returns the time that a session keeps a daemon busy, in milliseconds. It serves one request at a time, so
 * the time of its client is part of it. Measures processor time, since other programs use this machine, too;
 * the simulator is in this process.
 */
async function daemonTime(site: BenchSite["site"]): Promise<number> {
  const before = process.cpuUsage();
  const { cost, replies } = await bareRound(site.daemon().commandPort, `${site.folder}/conf`);
  const { user, system } = process.cpuUsage(before);
  return cost / 1000 + (user + system) / 1000 / replies;
}

const PARTS = [
  ["edge", "edge"],
  ["core", "core"],
  ["database", "PostgreSQL"],
  ["balancer", "HAProxy"],
] as const;

async function demandsOf(
  { process: instance }: BenchSite,
  { pid, balancer }: { readonly pid: number; readonly balancer: number },
  load: Pick<Load, "url" | "headers" | "body">,
): Promise<Omit<Demands, "daemon">> {
  const fresh = {
    ...load,
    headers: { ...load.headers, Connection: "close" },
    connections: CLAIMS,
    seconds: 2 * SECONDS.others,
  };
  await warmUp((seconds) => runWrk({ ...fresh, seconds }), WARM_UP.others);
  const used = () => {
    const threads = instance.cpu();
    return {
      edge: threads["worker-1"] ?? 0,
      core: threads["worker-2"] ?? 0,
      database: cpuOfTree(pid),
      balancer: cpuOfTree(balancer),
    };
  };
  const before = used();
  const requests = await succeeded(fresh);
  const after = used();
  const each = (part: keyof typeof before) => (after[part] - before[part]) / requests;
  return {
    edge: each("edge"),
    core: each("core"),
    database: each("database"),
    balancer: each("balancer"),
  };
}

/** Shares a file of ten bytes with everybody. @returns Its URL. */
async function sharedFile({ site }: BenchSite, origin: string): Promise<string> {
  const path = `${site.folder}/shared.txt`;
  await Deno.writeTextFile(path, "0123456789");
  const body = { path, user: EVERYBODY, access: "READ" };
  const made = await ask(`${origin}/share/HPC`, site.authority.certificate, { as: ALICE, body });
  if (made.status !== 201) throw new Error(`no share: ${made.status} ${made.text}`);
  return `${origin}/access/HPC/${String(made.headers.location).split("/").at(-1)}`;
}

/** Puts load on a server. @returns Number of requests. @throws If a request failed. */
async function succeeded(load: Load): Promise<number> {
  const { requests, failures, said } = await runWrk(load);
  if (failures > 0) throw new Error(`${failures} of ${requests} requests to ${load.url} failed: ${said}`);
  return requests;
}
