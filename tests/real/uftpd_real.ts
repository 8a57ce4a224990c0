/**
 * The quick start with a real daemon and a real client: UFTPD from the checkout `UFTPD_CHECKOUT`, and
 * `pyuftp` from the path, from `PYUFTP`, or from PyPI in a virtual environment. The account is `daemon` for
 * root, else the user's own.
 */
import assert from "node:assert/strict";
import { createPrivateKey } from "node:crypto";
import { signToken } from "../authentication/sign_token.ts";
import { createAuthority } from "../pki/authority.ts";
import { SessionClient } from "../daemon_simulator/session_client.ts";
import { passwordLine } from "../system/running_service.ts";
import { runAuthserver, type ServiceProcess } from "../system/service_process.ts";
import { hasProgram, lacking, run } from "./lacking.ts";
import { findPyuftp } from "./pyuftp.ts";
import { freePorts, reachable, sessionAccount, startUftpd } from "./uftpd.ts";

const PART = "UFTPD and pyuftp";
const ANN = ["ann", "wonder-4711"] as const;
const BEN = ["ben", "wonder-4712"] as const;

const checkout = Deno.env.get("UFTPD_CHECKOUT");
if (checkout === undefined) lacking(PART, "set UFTPD_CHECKOUT to a checkout of UFTPD");
else if (!await hasProgram("python3")) lacking(PART, "install python3");
else {
  const pyuftp = await findPyuftp(PART);
  if (pyuftp !== undefined) {
    Deno.test(`${PART}: login, ls, and cp in both directions`, () => quickStart(checkout, pyuftp));
  }
}

async function quickStart(uftpd: string, pyuftp: string): Promise<void> {
  const folder = await Deno.makeTempDir({ prefix: "authserver-real-" });
  const account = sessionAccount();
  const group = (await run("id", ["-gn", account.username])).trim();
  const [servicePort] = freePorts(1);
  const authority = createAuthority({ subject: "CN=Demo CA,O=Demo,C=EU" });
  const own = authority.issue({ subject: "CN=AUTH,O=Demo,C=EU", names: ["localhost", "127.0.0.1"] });
  const shown = authority.issue({ subject: "CN=UFTPD,O=Demo,C=EU" });
  const files: Readonly<Record<string, string>> = {
    "ca.pem": authority.certificate,
    "own.pem": own.certificate,
    "own.key": own.key,
    "uftpd.pem": shown.certificate,
    "uftpd.key": shown.key,
    "uftpd.acl": "CN=AUTH,O=Demo,C=EU\n",
    "ssl.conf": `credential.key=${folder}/uftpd.key\ncredential.certificate=${folder}/uftpd.pem\n` +
      `truststore=${folder}/ca.pem\n`,
    "users.txt": passwordLine(ANN, "CN=Ann Example,O=Example") +
      passwordLine(BEN, "CN=Ben Example,O=Example"),
    "mapfile.json": JSON.stringify({
      "CN=Ann Example,O=Example": { role: "user", xlogin: account.username },
      "CN=Ben Example,O=Example": { role: "user", xlogin: account.username, group },
      "CN=ann,OU=ssh-certificates": { role: "user", xlogin: account.username },
    }),
    "container.properties": `container.host=localhost
container.port=${servicePort}
container.security.credential.path=${folder}/own.pem
container.security.credential.keyPath=${folder}/own.key
container.security.truststore.type=directory
container.security.truststore.directoryLocations.1=${folder}/ca.pem
authservice.servers=HPC
authservice.server.HPC.host=127.0.0.1
authservice.server.HPC.commandHost=127.0.0.1
container.security.rest.authentication.order=PASSWORD SSHKEY
container.security.rest.authentication.SSHKEY.certificateAuthorities=${folder}/ssh_ca.pub
container.security.rest.authentication.SSHKEY.revokedKeys=${folder}/revoked
container.security.rest.authentication.SSHKEY.certificateIdentity=CN=%principal%,OU=ssh-certificates
container.security.rest.authentication.PASSWORD.file=${folder}/users.txt
container.security.attributes.order=FILE
container.security.attributes.FILE.file=${folder}/mapfile.json
share.servers=HPC
share.allowWriteAccess=true
share.clientIP=127.0.0.1
persistence.directory=${folder}/shares
`,
    "revoked": "# none\n",
    "down.txt": "from the service's side\n",
  };
  for (const [name, text] of Object.entries(files)) {
    await Deno.writeTextFile(`${folder}/${name}`, text, { mode: 0o600 });
  }
  await sshKeygen(folder, "-f", "ssh_ca", "-t", "ed25519", "-N", "");
  await sshKeygen(folder, "-f", "ann_key", "-t", "ed25519", "-N", "");
  // Sessions may read and write in this folder.
  const data = `${folder}/data`;
  await Deno.mkdir(data);
  await Deno.mkdir(`${folder}/shares`);
  await Deno.chmod(folder, 0o755);
  await Deno.writeTextFile(`${data}/there.txt`, "already there\n");
  if (Deno.uid() === 0) {
    for (const path of [data, `${data}/there.txt`]) await Deno.chown(path, account.uid, account.gid);
  }

  await using daemon = await startUftpd(uftpd, {
    folder,
    // UFTPD counts an ended session for some seconds more.
    settings: { SSL_CONF: `${folder}/ssl.conf`, ACL: `${folder}/uftpd.acl`, MAX_CONNECTIONS: "1000" },
  });
  const main = `${folder}/container.properties`;
  const text = await Deno.readTextFile(main);
  await Deno.writeTextFile(main, `${text}authservice.server.HPC.commandPort=${daemon.commandPort}\n`);
  let service: ServiceProcess | undefined;
  try {
    service = runAuthserver(["serve", "--config", `${folder}/container.properties`], { cwd: folder });
    await service.prints(/serving|started/);
    await reachable(servicePort);
    const target = `https://localhost:${servicePort}/rest/auth/HPC:${data}`;
    const env = {
      REQUESTS_CA_BUNDLE: `${folder}/ca.pem`,
    };
    const ask = (command: string, ...args: readonly string[]) =>
      run(pyuftp, [command, "-u", ANN.join(":"), ...args], { env, cwd: folder });

    assert.match(await ask("info", `https://localhost:${servicePort}/rest/auth/HPC`), /Ann Example/);
    assert.match(await ask("ls", `${target}/`), /there\.txt/);
    await ask("cp", `${target}/there.txt`, `${folder}/copy.txt`);
    assert.equal(await Deno.readTextFile(`${folder}/copy.txt`), "already there\n");
    await ask("cp", `${folder}/down.txt`, `${target}/up.txt`);
    assert.equal(await Deno.readTextFile(`${data}/up.txt`), files["down.txt"]);
    assert.match(await ask("ls", `${target}/`), /up\.txt/);
    await narrowToken({ base: `https://localhost:${servicePort}`, data, folder, pyuftp, env });
    await shareOneFile({ base: `https://localhost:${servicePort}`, data, folder, ask });
    await shareWithGroup(group, { base: `https://localhost:${servicePort}`, data, folder, pyuftp, env });
    await uploadAndArchive({ base: `https://localhost:${servicePort}`, data, folder });
    const issued = await ask("issue-token", "-l", "600", `https://localhost:${servicePort}/rest/auth`);
    const [token = ""] = /ey[\w-]+\.[\w-]+\.[\w-]+/.exec(issued) ?? [];
    assert.match(await run(pyuftp, ["ls", "-A", token, `${target}/`], { env }), /there\.txt/);
    await assert.rejects(
      run(pyuftp, ["ls", "-u", `${ANN[0]}:guess`, `${target}/`], { env }),
      /401|[Aa]uthent/,
    );
    await signInByCertificate({ base: `https://localhost:${servicePort}`, pyuftp, env, folder, target });
    // The daemon still answers as before.
    assert.match(await ask("ls", `${target}/`), /there\.txt/);
  } finally {
    service?.kill("SIGTERM");
    await service?.ended;
    await Deno.remove(folder, { recursive: true });
  }
}

/** Uploads a folder to a share file by file, one file in parts, and downloads it as one archive. */
async function uploadAndArchive({ base, data, folder }: {
  readonly base: string;
  readonly data: string;
  readonly folder: string;
}): Promise<void> {
  const incoming = `${data}/incoming`;
  await Deno.mkdir(incoming);
  if (Deno.uid() === 0) await Deno.chown(incoming, sessionAccount().uid, sessionAccount().gid);
  using client = Deno.createHttpClient({ caCerts: [await Deno.readTextFile(`${folder}/ca.pem`)] });
  const share = async (access: string) => {
    const made = await fetch(`${base}/rest/share/HPC`, {
      client,
      method: "POST",
      headers: { "Authorization": `Basic ${btoa(ANN.join(":"))}`, "Content-Type": "application/json" },
      body: JSON.stringify({ path: `${incoming}/`, user: "CN=ANONYMOUS,O=UNKNOWN,OU=UNKNOWN", access }),
    });
    assert.equal(made.status, 201, await made.text());
    return (made.headers.get("Location") ?? "").replace("/share/", "/access/");
  };
  const drop = await share("DROP");
  const put = async (path: string, body: string, range?: string) => {
    const headers: Record<string, string> = range === undefined ? {} : { "Content-Range": range };
    const answer = await fetch(`${drop}/${path}`, { client, method: "PUT", headers, body });
    return [answer.status, answer.headers.get("Upload-Name"), await answer.text()];
  };
  const files = new Map(Array.from({ length: 100 }, (_, i) => [`run/${i}.txt`, `${i} `.repeat(i * 50)]));
  for (const [path, text] of files) {
    assert.deepEqual(await put(path, text), [201, encodeURIComponent(path), ""], path);
  }
  assert.deepEqual(await put("run/1.txt", "other"), [201, encodeURIComponent("run/1 (2).txt"), ""]);
  const key = "?upload=0123456789abcdefghij";
  assert.deepEqual(await put(`big${key}`, "0123", "bytes 0-3/8"), [202, null, ""]);
  assert.deepEqual(await put(`big${key}`, "4567", "bytes 4-7/8"), [201, "big", ""]);
  assert.equal(await Deno.readTextFile(`${incoming}/big`), "01234567");

  const archive = await fetch(`${await share("READ")}?view=zip`, { client });
  await Deno.writeFile(`${folder}/incoming.zip`, new Uint8Array(await archive.arrayBuffer()));
  const unpacked = await run("python3", ["-m", "zipfile", "-e", "incoming.zip", "unpacked"], { cwd: folder });
  assert.equal(unpacked, "");
  for (const [path, text] of files) {
    assert.equal(await Deno.readTextFile(`${folder}/unpacked/incoming/${path}`), text, path);
  }
}

/** Uses a token for reading one directory; the service or the daemon refuses all other operations. */
async function narrowToken({ base, data, folder, pyuftp, env }: {
  readonly base: string;
  readonly data: string;
  readonly folder: string;
  readonly pyuftp: string;
  readonly env: Record<string, string>;
}): Promise<void> {
  const inside = `${data}/run7`;
  await Deno.mkdir(inside, { recursive: true });
  await Deno.writeTextFile(`${inside}/in.txt`, "inside\n");
  if (Deno.uid() === 0) {
    const { uid, gid } = sessionAccount();
    for (const path of [inside, `${inside}/in.txt`]) await Deno.chown(path, uid, gid);
  }
  using client = Deno.createHttpClient({ caCerts: [await Deno.readTextFile(`${folder}/ca.pem`)] });
  const Authorization = `Basic ${btoa(ANN.join(":"))}`;
  const query = new URLSearchParams({ path: `${inside}/`, activity: "read", server: "HPC", name: "run7" });
  const token =
    await (await fetch(`${base}/rest/auth/token?${query}`, { client, headers: { Authorization } }))
      .text();
  const ask = (command: string, ...args: readonly string[]) =>
    run(pyuftp, [command, "-A", token, ...args], { env, cwd: folder });
  const target = `${base}/rest/auth/HPC:${data}`;
  assert.match(await ask("ls", `${target}/run7/`), /in\.txt/);
  await ask("cp", `${target}/run7/in.txt`, `${folder}/in.txt`);
  assert.equal(await Deno.readTextFile(`${folder}/in.txt`), "inside\n");
  await assert.rejects(ask("cp", `${folder}/down.txt`, `${target}/run7/up.txt`), /./, "the daemon");
  await assert.rejects(ask("ls", `${target}/`), /token is restricted/, "the service");
  const denied = await sessionReplies({ base, token, client, inside }, [
    `RETR ${data}/there.txt`,
    "RETR ../there.txt",
    `SIZE ${data}/there.txt`,
    `STOR ${inside}/up.txt`,
    `DELE ${inside}/in.txt`,
    `MKD ${inside}/new`,
  ]);
  for (const reply of denied) assert.match(reply, /^534/, denied.join("\n"));
  const [, claims = ""] = token.split(".");
  const { jti } = JSON.parse(
    new TextDecoder().decode(Uint8Array.fromBase64(claims, { alphabet: "base64url" })),
  );
  const ended = await fetch(`${base}/rest/auth/tokens/${jti}`, {
    client,
    method: "DELETE",
    headers: { Authorization: `Bearer ${token}` },
  });
  assert.equal(ended.status, 204, await ended.text());
  await assert.rejects(ask("ls", `${target}/run7/`), /401|[Aa]uthent/, "taken back");
  assert.deepEqual([...Deno.readDirSync(inside)].map(({ name }) => name), ["in.txt"]);
}

/** Opens a session with a token, and returns the real daemon's replies to commands. */
async function sessionReplies(
  { base, token, client, inside }: {
    readonly base: string;
    readonly token: string;
    readonly client: Deno.HttpClient;
    readonly inside: string;
  },
  commands: readonly string[],
): Promise<string[]> {
  const answer = await fetch(`${base}/rest/auth/HPC`, {
    client,
    method: "POST",
    headers: { "Authorization": `Bearer ${token}`, "Content-Type": "application/json" },
    body: JSON.stringify({ serverPath: `${inside}/` }),
  });
  const { serverPort, secret } = await answer.json();
  const session = await SessionClient.connect(serverPort);
  try {
    assert.match(await session.logIn(secret), /^230/);
    return await session.commands(...commands);
  } finally {
    session.close();
  }
}

async function sshKeygen(folder: string, ...args: readonly string[]): Promise<void> {
  await run("ssh-keygen", ["-q", ...args], { cwd: folder });
}

/** Logs in with the plain client and a plain key, after `curl -T` sent the certificate once. */
async function signInByCertificate({ base, pyuftp, env, folder, target }: {
  readonly base: string;
  readonly pyuftp: string;
  readonly env: Readonly<Record<string, string>>;
  readonly folder: string;
  readonly target: string;
}): Promise<void> {
  const show = async (...how: readonly string[]) => {
    await Deno.remove(`${folder}/ann_key-cert.pub`).catch(() => {});
    await sshKeygen(folder, "-s", "ssh_ca", "-I", "ann's", ...how, "ann_key.pub");
    const url = `${base}/rest/auth/ssh-certificate`;
    const answer = ["--output", "-", "--cacert", `${folder}/ca.pem`, "--silent", "--fail-with-body"];
    return await run("curl", [...answer, "-T", `${folder}/ann_key-cert.pub`, url]);
  };
  const forget = () =>
    run("curl", [
      ...["--cacert", `${folder}/ca.pem`, "--silent", "--fail", "-X", "DELETE"],
      ...["--data-binary", `@${folder}/ann_key-cert.pub`, `${base}/rest/auth/ssh-certificate`],
    ]);
  const ask = (command: string, user: string, ...args: readonly string[]) =>
    run(pyuftp, [command, "-u", user, "-i", `${folder}/ann_key`, ...args], { env, cwd: folder });

  await assert.rejects(ask("ls", "ann", `${target}/`), /401|[Aa]uthent/);
  assert.match(await show("-n", "ann", "-V", "+1h"), /"principals":\["ann"\]/);
  assert.match(await ask("ls", "ann", `${target}/`), /there\.txt/);
  await ask("cp", "ann", `${target}/there.txt`, `${folder}/by_certificate.txt`);
  assert.equal(await Deno.readTextFile(`${folder}/by_certificate.txt`), "already there\n");
  await assert.rejects(ask("ls", "bob", `${target}/`), /401|[Aa]uthent/, "another principal");
  await forget();
  await assert.rejects(ask("ls", "ann", `${target}/`), /401|[Aa]uthent/, "forgotten");
  await show("-n", "ann", "-V", "+1h", "-O", "source-address=192.0.2.0/24");
  await assert.rejects(ask("ls", "ann", `${target}/`), /401|[Aa]uthent/, "from elsewhere");
  await show("-n", "ann", "-V", "+3s");
  await new Promise((resolve) => setTimeout(resolve, 4000)); // validity is in whole seconds
  await assert.rejects(ask("ls", "ann", `${target}/`), /401|[Aa]uthent/, "after its end");
  await show("-n", "ann", "-V", "+1h");
  assert.match(await ask("ls", "ann", `${target}/`), /there\.txt/);
  await signInAsJavaClients({ base, folder, target });
  await sshKeygen(folder, "-k", "-f", "revoked.new", "ann_key-cert.pub");
  await Deno.rename(`${folder}/revoked.new`, `${folder}/revoked`);
  await assert.rejects(
    async () => {
      while ((await ask("ls", "ann", `${target}/`)) !== ""); // the service checks the file every two seconds
    },
    /401|[Aa]uthent/,
    "revoked",
  );
}

/** Logs in repeatedly with a token as the Java client signs it with a private key, and opens a session. */
async function signInAsJavaClients({ base, folder, target }: {
  readonly base: string;
  readonly folder: string;
  readonly target: string;
}): Promise<void> {
  await sshKeygen(folder, "-f", "java_key", "-t", "rsa", "-b", "3072", "-m", "PEM", "-N", "");
  await sshKeygen(folder, "-s", "ssh_ca", "-I", "for Java", "-n", "ann", "-V", "+1h", "java_key.pub");
  const iat = Math.floor(Date.now() / 1000);
  const token = signToken({
    header: { alg: "RS256" },
    claims: { sub: "ann", iss: "ann", iat, exp: iat + 300 },
    key: createPrivateKey(await Deno.readTextFile(`${folder}/java_key`)),
  });
  using client = Deno.createHttpClient({ caCerts: [await Deno.readTextFile(`${folder}/ca.pem`)] });
  const directory = target.slice(target.indexOf("HPC:") + "HPC:".length);
  const open = () =>
    fetch(`${base}/rest/auth/HPC`, {
      client,
      method: "POST",
      headers: { "Authorization": `Bearer ${token}`, "Content-Type": "application/json" },
      body: JSON.stringify({ serverPath: `${directory}/` }),
    });
  assert.equal((await open()).status, 401, "no certificate was shown");
  const body = await Deno.readTextFile(`${folder}/java_key-cert.pub`);
  const shown = await fetch(`${base}/rest/auth/ssh-certificate`, { client, method: "PUT", body });
  assert.equal(shown.status, 200, await shown.text());
  for (let i = 0; i < 2; i++) {
    const answer = await open();
    assert.equal(answer.status, 200);
    const { serverPort, secret } = await answer.json();
    const session = await SessionClient.connect(serverPort);
    try {
      assert.match(await session.logIn(secret), /^230/);
      const [reply] = await session.commands(`MKD ${directory}/by_java_${i}`);
      assert.match(reply ?? "", /^257/);
    } finally {
      session.close();
    }
  }
}

/** Shares with a group; for `pyuftp`, which does not know groups, its name is a target like any other. */
async function shareWithGroup(group: string, { base, data, folder, pyuftp, env }: {
  readonly base: string;
  readonly data: string;
  readonly folder: string;
  readonly pyuftp: string;
  readonly env: Record<string, string>;
}): Promise<void> {
  const shares = `${base}/rest/share/HPC`;
  const ask = (user: readonly string[], ...args: readonly string[]) =>
    run(pyuftp, [...args, "-u", user.join(":")], { env, cwd: folder });
  await ask(ANN, "share", "--server", shares, "--access", `group:${group}`, `${data}/`);
  assert.match(await ask(ANN, "share", "--server", shares, "--list"), new RegExp(`${data}/`));
  using client = Deno.createHttpClient({ caCerts: [await Deno.readTextFile(`${folder}/ca.pem`)] });
  const Authorization = `Basic ${btoa(BEN.join(":"))}`;
  const shown = await (await fetch(shares, { client, headers: { Authorization } })).json();
  const { uftp: address } = shown.accessible[0];
  await ask(BEN, "cp", `${address}there.txt`, `${folder}/of_group.txt`);
  assert.equal(await Deno.readTextFile(`${folder}/of_group.txt`), "already there\n");
  await ask(ANN, "share", "--server", shares, "--access", `group:${group}`, "--delete", `${data}/`);
  await assert.rejects(ask(BEN, "cp", `${address}there.txt`, `${folder}/not_any_more.txt`));
}

/** Shares one file and copies it by the address that the service shows; `pyuftp` asks for the folder. */
async function shareOneFile({ base, data, folder, ask }: {
  readonly base: string;
  readonly data: string;
  readonly folder: string;
  readonly ask: (command: string, ...args: readonly string[]) => Promise<string>;
}): Promise<void> {
  const shares = `${base}/rest/share/HPC`;
  await ask("share", "--server", shares, "--access", "CN=Ann Example,O=Example", `${data}/there.txt`);
  using client = Deno.createHttpClient({ caCerts: [await Deno.readTextFile(`${folder}/ca.pem`)] });
  const Authorization = `Basic ${btoa(ANN.join(":"))}`;
  const shown = await (await fetch(shares, { client, headers: { Authorization } })).text();
  const address = /"uftp":"([^"]+)"/.exec(shown)?.[1];
  assert.ok(address, shown);
  await ask("cp", address, `${folder}/shared.txt`);
  assert.equal(await Deno.readTextFile(`${folder}/shared.txt`), "already there\n");
}
