/**
 * WebDAV by litmus, rclone, cadaver, davfs2 and curl, if they are installed, with a real daemon: UFTPD from
 * the checkout `UFTPD_CHECKOUT`. davfs2 needs root and `/dev/fuse`.
 */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { createAuthority } from "../pki/authority.ts";
import { bothWays, litmus, LITMUS_EXCEPTIONS } from "../system/dav_clients.ts";
import { passwordLine } from "../system/running_service.ts";
import { runAuthserver } from "../system/service_process.ts";
import { hasProgram, lacking, run } from "./lacking.ts";
import { freePorts, reachable, sessionAccount, startUftpd } from "./uftpd.ts";

const PART = "WebDAV and UFTPD";
const ANN = ["ann", "wonder-4711"] as const;

/** Number of files in the tree; a slow machine may set fewer. */
const FILES = Number(Deno.env.get("DAV_FILES") ?? 10_000);

const checkout = Deno.env.get("UFTPD_CHECKOUT");
if (checkout === undefined) lacking(PART, "set UFTPD_CHECKOUT to a checkout of UFTPD");
else {
  const tell = async (program: string, what: string, work: Work) => {
    if (!await hasProgram(program)) return lacking(PART, `install ${program}`);
    Deno.test(`${PART}: ${what}`, () => withService(checkout, work));
  };
  await tell("litmus", "litmus passes, but for what the manual names", async ({ url }) => {
    const failed = await litmus(url, ANN);
    assert.deepEqual(failed.filter((name) => !LITMUS_EXCEPTIONS.includes(name)), []);
  });
  await tell("curl", "curl sends, resumes and verifies a file as the manual says", curl);
  if (Deno.uid() !== 0) lacking(PART, "cadaver and davfs2 need root, to mount");
  else {
    await tell("cadaver", "cadaver makes, sends, lists, moves, locks and deletes", cadaver);
    const isOpen = await Deno.open("/dev/fuse", { read: true, write: true }).then(
      (fuse) => fuse.close(),
      String,
    );
    if (isOpen !== undefined) lacking(PART, `davfs2 needs /dev/fuse: ${isOpen}`);
    else await tell("mount.davfs", "davfs2 mounts a directory of the account's files", davfs);
  }
  await tell(
    "rclone",
    `rclone uploads ${FILES} files, finds them identical, and downloads them`,
    ({ url, folder }) => bothWays(url, ANN, folder, FILES),
  );
}

/** URL and path of a directory of the account, a folder for the client, and the file of the authority. */
interface Served {
  readonly url: string;
  readonly data: string;
  readonly folder: string;
  readonly authority: string;
}

type Work = (served: Served) => Promise<void>;

async function curl({ url, data, folder, authority }: Served): Promise<void> {
  const file = `${folder}/run.log`;
  await Deno.writeTextFile(file, "0123456789".repeat(300_000));
  const ask = (...args: string[]) =>
    run("curl", ["-sS", "--fail", "--cacert", authority, "-u", ANN.join(":"), ...args]);
  await ask("-T", file, `${url}run.log`);
  assert.ok(await Deno.readTextFile(`${data}/run.log`) === await Deno.readTextFile(file));
  // The service answers no range requests for files that were just written.
  await Deno.utime(`${data}/run.log`, 1772600767, 1772600767);
  assert.equal(await ask("-r", "10-19", `${url}run.log`), "0123456789");
  await Deno.writeTextFile(`${folder}/part`, "0123456789".repeat(1000));
  await ask("-C", "-", "-o", `${folder}/part`, `${url}run.log`);
  assert.ok(await Deno.readTextFile(`${folder}/part`) === await Deno.readTextFile(file));
  const digest = createHash("sha256").update(await Deno.readFile(file)).digest("base64");
  const head = await ask("-I", "-H", "Want-Repr-Digest: sha-256=1", `${url}run.log`);
  assert.ok(head.includes(`sha-256=:${digest}:`), head);
  await ask("-X", "MKCOL", `${url}there`);
  await ask("-X", "MOVE", "-H", `Destination: ${url}there/moved`, `${url}run.log`);
  await ask("-X", "DELETE", `${url}there`);
  assert.deepEqual([...Deno.readDirSync(data)], []);
}

/** Tests cadaver. It trusts only the machine's authorities; in a mount namespace, ours replaces them. */
async function cadaver({ url, data, folder, authority }: Served): Promise<void> {
  await Deno.writeTextFile(`${folder}/.netrc`, `machine localhost login ${ANN[0]} password ${ANN[1]}\n`, {
    mode: 0o600,
  });
  await Deno.writeTextFile(`${folder}/a.txt`, "from cadaver");
  const say = async (...lines: readonly string[]) => {
    const trusting = 'mount --bind "$0" /etc/ssl/certs/ca-certificates.crt && exec cadaver "$1"';
    const program = new Deno.Command("unshare", {
      args: ["--mount", "sh", "-c", trusting, authority, url],
      cwd: folder,
      env: { HOME: folder },
      stdin: "piped",
      stdout: "piped",
      stderr: "piped",
    }).spawn();
    const writer = program.stdin.getWriter();
    await writer.write(new TextEncoder().encode([...lines, "quit", ""].join("\n")));
    await writer.close();
    const { stdout, stderr } = await program.output();
    return new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr);
  };
  const said = await say(
    "mkcol sub",
    "put a.txt",
    "move a.txt sub/b.txt",
    "copy sub/b.txt sub/c.txt",
    "lock sub/c.txt",
    "unlock sub/c.txt",
    "ls sub",
    "get sub/b.txt back.txt",
  );
  assert.doesNotMatch(said, /failed/i, said);
  assert.match(said, /b\.txt +12 /, said);
  assert.equal(await Deno.readTextFile(`${folder}/back.txt`), "from cadaver");
  assert.equal(await Deno.readTextFile(`${data}/sub/c.txt`), "from cadaver");
  assert.doesNotMatch(await say("delete sub/b.txt", "rmcol sub"), /failed/i);
  assert.deepEqual([...Deno.readDirSync(data)], []);
}

async function davfs({ url, data, folder, authority }: Served): Promise<void> {
  const mounted = `${folder}/mounted`;
  for (const name of ["mounted", "cache"]) await Deno.mkdir(`${folder}/${name}`);
  await Deno.chmod(`${folder}/cache`, 0o777); // davfs2 runs as its own account
  await Deno.writeTextFile(`${folder}/secrets`, `${url} ${ANN.join(" ")}\n`, { mode: 0o600 });
  const settings = {
    trust_ca_cert: authority,
    secrets: `${folder}/secrets`,
    cache_dir: `${folder}/cache`,
    ask_auth: "0",
    use_locks: "1",
    delay_upload: "0",
  };
  const conf = Object.entries(settings).map((pair) => pair.join(" ")).join("\n");
  await Deno.writeTextFile(`${folder}/davfs2.conf`, `${conf}\n`, { mode: 0o600 });
  await Deno.writeTextFile(`${data}/there before`, "0123456789");
  await run("mount", ["-t", "davfs", "-o", `conf=${folder}/davfs2.conf`, url, mounted]);
  try {
    assert.equal(await Deno.readTextFile(`${mounted}/there before`), "0123456789");
    await Deno.mkdir(`${mounted}/new`);
    for (let n = 0; n < 20; n++) await Deno.writeTextFile(`${mounted}/new/file ${n}`, "x".repeat(n * 1000));
    await Deno.writeTextFile(`${mounted}/new/file 1`, "changed");
    await Deno.rename(`${mounted}/new/file 2`, `${mounted}/new/renamed`);
    await Deno.remove(`${mounted}/new/file 3`);
  } finally {
    await run("umount", [mounted]); // uploads pending changes
  }
  const names = [...Deno.readDirSync(`${data}/new`)].map(({ name }) => name);
  assert.equal(names.length, 19, names.join());
  assert.equal(await Deno.readTextFile(`${data}/new/file 1`), "changed");
  assert.equal((await Deno.stat(`${data}/new/renamed`)).size, 2000);
  assert.equal((await Deno.stat(`${data}/new/file 19`)).size, 19_000);
}

async function withService(uftpd: string, work: Work): Promise<void> {
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
  await Deno.chmod(`${folder}/ca.pem`, 0o644); // clients under other accounts read it
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
  // The service keeps its log and control socket in its working directory.
  const service = runAuthserver(["serve", "--config", `${folder}/container.properties`], { cwd: folder });
  try {
    await service.prints(/serving|started/);
    await reachable(servicePort);
    const url = `https://localhost:${servicePort}/dav/HPC${data}/`;
    await work({ url, data, folder: `${folder}/client`, authority: `${folder}/ca.pem` });
  } finally {
    service.kill("SIGTERM");
    await service.ended;
    await Deno.remove(folder, { recursive: true });
  }
}
