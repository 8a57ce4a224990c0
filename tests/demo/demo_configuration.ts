import { createHash } from "node:crypto";
import type { DaemonSimulator } from "../daemon_simulator/daemon.ts";
import type { Authority } from "../pki/authority.ts";

/** User of the demo. */
export const DEMO_USER = { name: "demouser", password: "test123", account: "demo", group: "users" } as const;

/** Folder, authority and daemon of a demo. */
export interface DemoSite {
  /** Parent folder of `conf/` and `logs/`. */
  readonly folder: string;
  readonly authority: Authority;
  readonly daemon: Pick<DaemonSimulator, "host" | "listenPort" | "commandPort">;
}

/**
 * Writes a complete configuration for one daemon.
 * @param options.properties Further lines; they replace lines with the same keys.
 * @returns Path of the main file.
 */
export async function writeDemoConfiguration(
  site: DemoSite,
  { port, properties = {} }: {
    readonly port: number;
    readonly properties?: Readonly<Record<string, string>>;
  },
): Promise<string> {
  const { folder, authority } = site;
  const own = authority.issue({
    subject: "CN=localhost,O=authserver demo",
    names: ["localhost", "127.0.0.1"],
  });
  const conf = `${folder}/conf`;
  await Deno.mkdir(conf);
  const dn = `CN=Demo User, O=authserver demo`;
  const map = {
    [dn]: { role: "user", xlogin: DEMO_USER.account, group: DEMO_USER.group },
  };
  const salt = "Rk3_vT8mZq0LxN5w";
  const hash = createHash("md5").update(salt + DEMO_USER.password).digest("hex");
  await secretFile(`${conf}/users.txt`, `${DEMO_USER.name}:${hash}:${salt}:${dn}\n`);
  await secretFile(`${conf}/server-key.pem`, own.key);
  await Deno.writeTextFile(`${conf}/server-cert.pem`, own.certificate);
  await Deno.writeTextFile(`${conf}/ca-cert.pem`, authority.certificate);
  await Deno.writeTextFile(`${conf}/mapfile.json`, JSON.stringify(map, undefined, 2));
  const main = `${conf}/container.properties`;
  const lines = mainFile(site, port).split("\n").filter((line) =>
    !Object.hasOwn(properties, line.split("=", 1)[0] ?? "")
  );
  const more = Object.entries(properties).map(([key, value]) => `${key}=${value}\n`);
  await Deno.writeTextFile(main, lines.join("\n") + more.join(""));
  return main;
}

function mainFile({ folder, daemon }: DemoSite, port: number): string {
  return `# Written by the demo
container.host=localhost
container.port=${port}
container.sitename=DEMO
container.security.gateway.enable=false
container.httpServer.requireClientAuthn=false
container.security.credential.path=${folder}/conf/server-cert.pem
container.security.credential.keyPath=${folder}/conf/server-key.pem
container.security.truststore.type=directory
container.security.truststore.directoryLocations.1=${folder}/conf/ca-cert.pem
container.logging.file=${folder}/logs/authserver.log

authservice.servers=DEMO
authservice.server.DEMO.description=Demo transfer daemon
authservice.server.DEMO.host=${daemon.host}
authservice.server.DEMO.port=${daemon.listenPort}
authservice.server.DEMO.commandHost=${daemon.host}
authservice.server.DEMO.commandPort=${daemon.commandPort}

share.servers=DEMO
share.allowWriteAccess=true
persistence.directory=${folder}/data

container.security.rest.authentication.order=PASSWORD
container.security.rest.authentication.PASSWORD.class=eu.unicore.services.rest.security.FilebasedAuthenticator
container.security.rest.authentication.PASSWORD.file=${folder}/conf/users.txt

container.security.attributes.order=FILE
container.security.attributes.FILE.file=${folder}/conf/mapfile.json
`;
}

async function secretFile(path: string, text: string): Promise<void> {
  await Deno.writeTextFile(path, text, { mode: 0o600 });
}
