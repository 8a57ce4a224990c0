/** Demo of several instances, with PostgreSQL, HAProxy, and a client while one instance is killed. */
import assert from "node:assert/strict";
import { balancerProperties, startBalancer } from "../fixtures/haproxy.ts";
import { freePort } from "../fixtures/free_port.ts";
import { TestPostgres } from "../fixtures/postgres.ts";
import { runAuthserver } from "../system/service_process.ts";
import { databaseProperties, type Instance, served, startInstance } from "../system/several_instances.ts";
import type { DemoArguments } from "./demo_arguments.ts";
import { DEMO_USER, type DemoSite, writeDemoConfiguration } from "./demo_configuration.ts";
import { LoopingClient, type Summary } from "./looping_client.ts";

/** Lines of the client before an instance is killed, until its restart, and after it serves again. */
const SECONDS = { before: 3, without: 6, after: 2 } as const;

/** Instance, and the number of the client's requests that it has answered since the last call. */
interface Counted {
  readonly instance: Instance;
  readonly answered: () => number;
}

/**
 * Runs the demo, then waits for the end, unless it runs only once.
 * @param site Folder of the configuration, and the daemon that all instances share.
 * @param stop Signal that ends the demo.
 * @returns Exit status: 1 if the client had no successful login or no session.
 */
export async function demonstrateSeveral(
  site: DemoSite,
  { instances: count = 3, port, once }: DemoArguments,
  stop: AbortSignal,
): Promise<number> {
  await using started = new AsyncDisposableStack();
  console.log("Starting PostgreSQL …");
  const postgres = started.use(await TestPostgres.start());
  const database = await postgres.database();
  const ports = Array.from({ length: count }, freePort);
  const balancerPort = port === 0 ? freePort() : port;
  const url = `https://localhost:${balancerPort}`;
  const main = await writeDemoConfiguration(site, {
    port: 0,
    properties: {
      ...await balancerProperties(),
      ...databaseProperties(postgres, database),
      "container.externalurl": url,
      "container.drainSeconds": "0",
    },
  });
  const ca = site.authority.certificate;
  const run = async (number: number): Promise<Counted> => {
    const counted = await startCounted({ ...site, main }, number, ports[number - 1] ?? 0);
    started.defer(() => end(counted));
    return counted;
  };
  console.log(`Starting ${count} instances with one configuration …`);
  const running = await Promise.all(ports.map((_, i) => run(i + 1)));
  started.use(await startBalancer(ports, { ca, port: balancerPort }));
  for (const { instance } of running) await served(instance);
  console.log(introduction({ postgres, database, ports, main, url, host: site.daemon.host }));
  const summary = await show({ url, ca, running, run, stop });
  console.log(told(summary));
  if (!once) {
    console.log(`${linesToTry(url, running)}\n\nPress Ctrl-C to end.`);
    await new Promise((resolve) =>
      stop.aborted ? resolve(undefined) : stop.addEventListener("abort", resolve)
    );
  }
  return summary.logins > 0 && summary.sessions > 0 ? 0 : 1;
}

/** Prints the client's lines while an instance is killed and restarted. */
async function show({ url, ca, running, run, stop }: {
  readonly url: string;
  readonly ca: string;
  readonly running: Counted[];
  readonly run: (number: number) => Promise<Counted>;
  readonly stop: AbortSignal;
}): Promise<Summary> {
  const client = new LoopingClient(url, ca, [DEMO_USER.name, DEMO_USER.password], "DEMO");
  const began = performance.now();
  const line = async (): Promise<readonly number[]> => {
    await new Promise((resolve) => setTimeout(resolve, 1000));
    const answered = running.map(({ answered }) => answered());
    const { logins, sessions, failures, longestMs } = client.latest();
    const passed = (performance.now() - began) / 1000;
    const cells = [`${passed.toFixed(0)} s`, logins, sessions, failures, `${longestMs.toFixed(0)} ms`];
    console.log(`${row(cells)}   ${answered.map((n) => String(n).padStart(4)).join("")}`);
    return answered;
  };
  const lines = async (count: number) => {
    for (let i = 0; i < count && !stop.aborted; i++) await line();
  };
  console.log(`${row(["", "logins", "sessions", "failed", "longest"])}   answered by each instance`);
  await lines(SECONDS.before);
  const number = running.length;
  const victim = running[number - 1];
  assert(victim !== undefined);
  console.log(`Instance ${number} (process ${victim.instance.process.pid}) is killed: kill -9`);
  victim.instance.process.kill("SIGKILL");
  await lines(SECONDS.without);
  if (!stop.aborted) {
    running[number - 1] = await run(number);
    console.log(`Instance ${number} is started again; HAProxy uses it once a check of its health succeeds`);
  }
  while (!stop.aborted && (await line()).at(-1) === 0);
  await lines(SECONDS.after);
  return await client.stop();
}

function row([second, ...cells]: readonly (string | number)[]): string {
  return String(second).padStart(5) + cells.map((cell) => String(cell).padStart(10)).join("");
}

/** Returns the client's results in words. */
function told({ logins, sessions, failures, longestMs, reasons }: Summary): string {
  const all = `\nThe client: ${logins} logins and ${sessions} sessions`;
  const longest = `the longest took ${(longestMs / 1000).toFixed(1)} s`;
  if (failures === 0) return `${all}, none failed; ${longest}.`;
  const why = [...reasons].map(([reason, count]) => `${count} × ${reason}`).join(", ");
  return `${all}, ${longest}. Tries that failed: ${why}; each was made again, with success.`;
}

function introduction({ postgres, database, ports, main, url, host }: {
  readonly postgres: TestPostgres;
  readonly database: string;
  readonly ports: readonly number[];
  readonly main: string;
  readonly url: string;
  readonly host: string;
}): string {
  return `
PostgreSQL ${host}:${postgres.port}, database ${database}
Instances  ${ports.map((port) => `localhost:${port}`).join(", ")}
HAProxy    ${url}, by the recipe of docs/network.md
The configuration is in ${
    main.slice(0, main.lastIndexOf("/"))
  }: all have the same but for addresses, log and socket.
`;
}

/** Command that runs Deno, for readers who only have Node.js. */
const DENO = `npx --yes deno@${Deno.version.deno}`;

function linesToTry(url: string, running: readonly Counted[]): string {
  const { name, password } = DEMO_USER;
  const [first, second] = running;
  const main = first?.instance.main;
  return `
All instances run. Try:

  curl -k -u ${name}:${password} -H 'Accept: application/json' ${url}/rest/auth
  curl -k ${url}/health/ready
  ${DENO} task start status --config ${main}
  ${DENO} task start ban add --user ${name} --for 1m --config ${main}    # holds on all of them
  kill -9 ${second?.instance.process.pid}    # another one`;
}

/** Starts an instance and counts its answers by its log. */
async function startCounted(
  site: DemoSite & { readonly main: string },
  number: number,
  port: number,
): Promise<Counted> {
  let answered = 0;
  const onLine = (line: string) => {
    if (/ request answered .* route=\/rest\/auth/.test(line)) answered++;
  };
  const instance = await startInstance(
    site,
    number,
    { "container.port": String(port) },
    (args, options) => runAuthserver(args, { ...options, onLine }),
  );
  return {
    instance,
    answered: () => {
      const latest = answered;
      answered = 0;
      return latest;
    },
  };
}

async function end({ instance: { process } }: Counted): Promise<void> {
  try {
    process.kill("SIGTERM");
  } catch {
    return; // it has ended
  }
  await process.ended;
}
