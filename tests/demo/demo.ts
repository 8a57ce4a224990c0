/**
 * `deno task demo [--port N] [--instances N] [--once]`: runs a transfer daemon (the simulator) on loopback
 * and the service in front of it, with a configuration in a temporary folder. Sends one request and shows the
 * answer; runs until Ctrl-C. With several instances, also runs PostgreSQL, HAProxy, and a client while one
 * instance is killed.
 */
import { CommandFailed } from "../../src/command/command.ts";
import { startService } from "../../src/command/serving/running_service.ts";
import { formatDiagnostic } from "../../src/model/diagnostic.ts";
import { startDaemon } from "../daemon_simulator/daemon.ts";
import { HAPROXY } from "../fixtures/haproxy.ts";
import { POSTGRES } from "../fixtures/postgres_programs.ts";
import { createAuthority } from "../pki/authority.ts";
import { ask } from "./ask.ts";
import { type DemoArguments, readDemoArguments, USAGE, WrongArguments } from "./demo_arguments.ts";
import { requireForSeveral } from "./demo_requirements.ts";
import { DEMO_USER, type DemoSite, writeDemoConfiguration } from "./demo_configuration.ts";

/** Session limit of the demo daemon: a client announces more sessions than it uses. */
const MAX_SESSIONS = 100_000;

Deno.exit(await demo(Deno.args));

async function demo(args: readonly string[]): Promise<number> {
  const stop = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) Deno.addSignalListener(signal, () => stop.abort());
  try {
    const asked = readDemoArguments(args);
    if (asked.instances === undefined) await runNothing();
    else requireForSeveral({ postgres: POSTGRES, haproxy: HAPROXY });
    return await withDaemon(asked, stop.signal);
  } catch (error) {
    if (!(error instanceof CommandFailed || error instanceof WrongArguments)) throw error;
    console.error(`demo: ${error.message}`);
    if (!(error instanceof WrongArguments)) return 1;
    console.error(USAGE);
    return 2;
  }
}

/** Drops the permission to run programs, which the product lacks: one instance runs in this process. */
async function runNothing(): Promise<void> {
  const { state } = await Deno.permissions.revoke({ name: "run" });
  if (state === "granted") throw new CommandFailed("the permission to run programs could not be given back");
}

async function withDaemon(asked: DemoArguments, stop: AbortSignal): Promise<number> {
  const folder = await Deno.makeTempDir({ prefix: "authserver-demo-" });
  try {
    const authority = createAuthority({ subject: "CN=Demo CA,O=authserver demo" });
    const home = `${folder}/home`;
    await Deno.mkdir(home);
    await Deno.writeTextFile(`${home}/welcome.txt`, "Hello from the demo transfer daemon\n");
    await using daemon = await startDaemon({
      tls: {
        ...authority.issue({ subject: "CN=Demo UFTPD,O=authserver demo" }),
        trusted: [authority.certificate],
      },
      acl: "CN=localhost,O=authserver demo",
      users: { [DEMO_USER.account]: { uid: 1000, home, groups: [DEMO_USER.group] } },
      ...(asked.instances !== undefined && { maxSessions: MAX_SESSIONS }),
    });
    const site = { folder, authority, daemon };
    if (asked.instances === undefined) return await demonstrateOne(site, asked, stop);
    const { demonstrateSeveral } = await import("./several_instances_demo.ts");
    return await demonstrateSeveral(site, asked, stop);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

async function demonstrateOne(
  site: DemoSite,
  { port, once }: DemoArguments,
  stop: AbortSignal,
): Promise<number> {
  const { folder, authority, daemon } = site;
  const file = await writeDemoConfiguration(site, { port });
  const service = await startService(file, (diagnostic) => console.error(formatDiagnostic(diagnostic)));

  const url = `https://localhost:${service.port}/rest/auth`;
  const { name, password } = DEMO_USER;
  const files = `${url}/DEMO:`;
  console.log(`
A demo transfer daemon (simulator) listens on 127.0.0.1:${daemon.listenPort}, its command socket is 127.0.0.1:${daemon.commandPort}.
The configuration is in ${folder}/conf. Try:

  curl -k -u ${name}:${password} -H 'Accept: application/json' ${url}

With the stock client (pip install pyuftp):

  pyuftp ls -u ${name}:${password} ${files}./
  pyuftp cp -u ${name}:${password} ${files}welcome.txt .
  pyuftp share -u ${name}:${password} -s https://localhost:${service.port}/rest/share/DEMO ${folder}/home/welcome.txt
`);
  const answer = await ask(url, authority.certificate, DEMO_USER);
  console.log(`It answers ${answer.status}:\n${answer.text}`);
  if (once || stop.aborted) service.stop();
  else {
    console.log("\nPress Ctrl-C to end.");
    stop.addEventListener("abort", service.stop);
  }
  await service.stopped;
  return answer.status === 200 ? 0 : 1;
}
