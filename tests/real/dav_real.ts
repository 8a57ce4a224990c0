/** WebDAV by litmus and rclone in front of a real daemon: UFTPD from the checkout `UFTPD_CHECKOUT`. */
import assert from "node:assert/strict";
import { createAuthority } from "../pki/authority.ts";
import { bothWays, litmus, LITMUS_EXCEPTIONS } from "../system/dav_clients.ts";
import { passwordLine } from "../system/running_service.ts";
import { runAuthserver } from "../system/service_process.ts";
import { hasProgram, lacking } from "./lacking.ts";
import { freePorts, reachable, sessionAccount, startUftpd } from "./uftpd.ts";

const PART = "WebDAV and UFTPD";
const ANN = ["ann", "wonder-4711"] as const;

/** Files of the tree; fewer on a slow machine. */
const FILES = Number(Deno.env.get("DAV_FILES") ?? 10_000);

const checkout = Deno.env.get("UFTPD_CHECKOUT");
if (checkout === undefined) lacking(PART, "set UFTPD_CHECKOUT to a checkout of UFTPD");
else if (!await hasProgram("litmus") || !await hasProgram("rclone")) {
  lacking(PART, "install litmus and rclone");
} else {
  Deno.test(`${PART}: litmus passes, but for what the manual names`, () =>
    withService(checkout, async (url) => {
      const failed = await litmus(url, ANN);
      assert.deepEqual(failed.filter((name) => !LITMUS_EXCEPTIONS.includes(name)), []);
    }));
  Deno.test(`${PART}: rclone sends ${FILES} files, finds them the same, and brings them back`, () =>
    withService(checkout, (url, folder) => bothWays(url, ANN, folder, FILES)));
}

/** @param work Gets the address of a directory of the account, and a folder of its own. */
async function withService(
  uftpd: string,
  work: (url: string, folder: string) => Promise<void>,
): Promise<void> {
  const folder = await Deno.makeTempDir({ prefix: "authserver-dav-" });
  const account = sessionAccount();
  const [servicePort] = freePorts(1);
  const authority = createAuthority({ subject: "CN=Demo CA,O=Demo,C=EU" });
  const own = authority.issue({ subject: "CN=AUTH,O=Demo,C=EU", names: ["localhost", "127.0.0.1"] });
  const shown = authority.issue({ subject: "CN=UFTPD,O=Demo,C=EU" });
  const data = `${folder}/data`;
  for (const path of [data, `${folder}/state`, `${folder}/client`]) await Deno.mkdir(path);
  await Deno.chmod(folder, 0o755);
  if (Deno.uid() === 0) await Deno.chown(data, account.uid, account.gid);
  const write = async (files: Readonly<Record<string, string>>) => {
    for (const [name, text] of Object.entries(files)) {
      await Deno.writeTextFile(`${folder}/${name}`, text, { mode: 0o600 });
    }
  };
  await write({
    "ca.pem": authority.certificate,
    "own.pem": own.certificate,
    "own.key": own.key,
    "uftpd.pem": shown.certificate,
    "uftpd.key": shown.key,
    "uftpd.acl": "CN=AUTH,O=Demo,C=EU\n",
    "ssl.conf": `credential.key=${folder}/uftpd.key\ncredential.certificate=${folder}/uftpd.pem\n` +
      `truststore=${folder}/ca.pem\n`,
    "users.txt": passwordLine(ANN, "CN=Ann Example,O=Example"),
    "mapfile.json": JSON.stringify({
      "CN=Ann Example,O=Example": { role: "user", xlogin: account.username },
    }),
  });
  await using daemon = await startUftpd(uftpd, {
    folder,
    settings: { SSL_CONF: `${folder}/ssl.conf`, ACL: `${folder}/uftpd.acl` },
  });
  await write({
    "container.properties": `container.host=localhost
container.port=${servicePort}
container.feature.Files.enable=true
container.security.credential.path=${folder}/own.pem
container.security.credential.keyPath=${folder}/own.key
container.security.truststore.type=directory
container.security.truststore.directoryLocations.1=${folder}/ca.pem
authservice.servers=HPC
authservice.server.HPC.host=127.0.0.1
authservice.server.HPC.commandHost=127.0.0.1
authservice.server.HPC.commandPort=${daemon.commandPort}
container.security.rest.authentication.order=PASSWORD
container.security.rest.authentication.PASSWORD.file=${folder}/users.txt
container.security.attributes.order=FILE
container.security.attributes.FILE.file=${folder}/mapfile.json
share.clientIP=127.0.0.1
persistence.directory=${folder}/state
`,
  });
  const service = runAuthserver(["serve", "--config", `${folder}/container.properties`]);
  try {
    await service.prints(/serving|started/);
    await reachable(servicePort);
    await work(`https://localhost:${servicePort}/dav/HPC${data}/`, `${folder}/client`);
  } finally {
    service.kill("SIGTERM");
    await service.ended;
    await Deno.remove(folder, { recursive: true });
  }
}
