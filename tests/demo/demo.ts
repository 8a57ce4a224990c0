/**
 * `deno task demo [--port N]`: a transfer daemon (the simulator) on loopback and the service in front of it, from a
 * configuration in a temporary folder. Tries the main job once and shows the answer; runs until Ctrl-C.
 */
import { parseArgs } from "node:util";
import { CommandFailed } from "../../src/command/command.ts";
import { startService } from "../../src/command/serving/running_service.ts";
import { formatProblem } from "../../src/model/problem.ts";
import { startDaemon } from "../daemon_simulator/daemon.ts";
import { createAuthority } from "../pki/authority.ts";
import { ask } from "./ask.ts";
import { DEMO_USER, writeDemoConfiguration } from "./demo_configuration.ts";

const USAGE = "Usage: deno task demo [--port N]    Port of the service on localhost, default 9000";

Deno.exit(await demo(Deno.args));

async function demo(args: readonly string[]): Promise<number> {
  const port = readPort(args);
  if (port === undefined) {
    console.error(USAGE);
    return 2;
  }
  const folder = await Deno.makeTempDir({ prefix: "authserver-demo-" });
  try {
    return await run(folder, port);
  } catch (error) {
    if (!(error instanceof CommandFailed)) throw error;
    console.error(`demo: ${error.message}`);
    return 1;
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

async function run(folder: string, port: number): Promise<number> {
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
  });
  const file = await writeDemoConfiguration(folder, { authority, daemon, port });
  const service = await startService(file, (problem) => console.error(formatProblem(problem)));

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
  pyuftp share -u ${name}:${password} -s https://localhost:${service.port}/rest/share/DEMO ${home}/welcome.txt
`);
  const answer = await ask(url, authority.certificate, DEMO_USER);
  console.log(`It answers ${answer.status}:\n${answer.text}\n\nPress Ctrl-C to end.`);
  for (const signal of ["SIGINT", "SIGTERM"] as const) Deno.addSignalListener(signal, service.stop);
  await service.stopped;
  return answer.status === 200 ? 0 : 1;
}

function readPort(args: readonly string[]): number | undefined {
  try {
    const { values } = parseArgs({ args: [...args], options: { port: { type: "string", default: "9000" } } });
    const port = Number(values.port);
    return /^\d{1,5}$/.test(values.port) && port <= 65535 ? port : undefined;
  } catch {
    return undefined;
  }
}
