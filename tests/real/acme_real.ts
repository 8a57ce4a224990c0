/** Debian's certbot obtains and renews a certificate from the ACME server pebble, with the manual's hook. */
import assert from "node:assert/strict";
import { get } from "node:https";
import { text } from "node:stream/consumers";
import { shownSerial, writeHook } from "../docs/renewal_hook.ts";
import { until } from "../fixtures/deadline.ts";
import { freePort } from "../fixtures/free_port.ts";
import { createAuthority } from "../pki/authority.ts";
import { runService, type SystemUnderTest } from "../system/running_service.ts";
import { hasProgram, lacking, run } from "./lacking.ts";

const PART = "ACME";
const NAME = "auth.example.org";

/** Starts a process that ends with the test. */
function start(program: string, args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const child = new Deno.Command(program, { args: [...args], env, stdout: "null", stderr: "null" }).spawn();
  return {
    async [Symbol.asyncDispose]() {
      child.kill();
      await child.status;
    },
  };
}

/** Starts an ACME server, which resolves the names of the test to this host. */
async function startPebble(folder: string) {
  const [directory, management, names, control, challenge] = Array.from({ length: 5 }, freePort);
  const authority = createAuthority({ subject: "CN=ACME test" });
  const { certificate, key } = authority.issue({ subject: "CN=pebble", names: ["localhost"] });
  await Deno.writeTextFile(`${folder}/acme-ca.pem`, authority.certificate);
  await Deno.writeTextFile(`${folder}/acme-cert.pem`, certificate);
  await Deno.writeTextFile(`${folder}/acme-key.pem`, key);
  await Deno.writeTextFile(
    `${folder}/pebble.json`,
    JSON.stringify({
      pebble: {
        listenAddress: `127.0.0.1:${directory}`,
        managementListenAddress: `127.0.0.1:${management}`,
        certificate: `${folder}/acme-cert.pem`,
        privateKey: `${folder}/acme-key.pem`,
        httpPort: challenge,
      },
    }),
  );
  const off = ["-http01", "", "-https01", "", "-tlsalpn01", "", "-defaultIPv6", ""];
  const processes = new AsyncDisposableStack();
  processes.use(start("pebble-challtestsrv", [
    ...["-defaultIPv4", "127.0.0.1", "-dns01", `127.0.0.1:${names}`, "-management", `127.0.0.1:${control}`],
    ...off,
  ]));
  processes.use(
    start("pebble", ["-config", `${folder}/pebble.json`, "-dnsserver", `127.0.0.1:${names}`], {
      PEBBLE_VA_NOSLEEP: "1",
    }),
  );
  const fetchText = (path: string, port = management) =>
    new Promise<string>((resolve, reject) => {
      get(`https://localhost:${port}${path}`, { ca: authority.certificate }, (reply) => resolve(text(reply)))
        .on("error", reject);
    });
  await until(() => fetchText("/dir", directory).then(() => true, () => false), { what: "pebble serves" });
  return {
    address: `https://localhost:${directory}/dir`,
    challenge,
    trusted: `${folder}/acme-ca.pem`,
    root: await fetchText("/roots/0"),
    [Symbol.asyncDispose]: () => processes.disposeAsync(),
  };
}

function certbot(system: SystemUnderTest, pebble: Awaited<ReturnType<typeof startPebble>>, path: string) {
  const { folder } = system;
  const folders = ["config", "work", "logs"].flatMap((
    name,
  ) => [`--${name}-dir`, `${folder}/certbot/${name}`]);
  return (...args: readonly string[]) =>
    run("certbot", [
      ...args,
      ...["-n", "--server", pebble.address, "--http-01-address", "127.0.0.1"],
      ...["--http-01-port", String(pebble.challenge), ...folders],
    ], { env: { REQUESTS_CA_BUNDLE: pebble.trusted, PATH: path } });
}

if (!await hasProgram("certbot") || !await hasProgram("pebble")) {
  lacking(PART, "install certbot and pebble");
} else {
  Deno.test("certbot obtains a certificate and renews it, and the manual's hook activates each", async () => {
    await using system = await runService();
    await using pebble = await startPebble(system.folder);
    const hooks = `${system.folder}/certbot/config/renewal-hooks/deploy`;
    await Deno.mkdir(hooks, { recursive: true });
    const lineage = `${system.folder}/certbot/config/live/${NAME}`;
    const path = await writeHook(system, `${hooks}/authserver`, lineage);
    const call = certbot(system, pebble, path);
    const mail = ["--agree-tos", "-m", `operator@${NAME}`];
    await call("certonly", "--standalone", "-d", NAME, ...mail);
    // This certbot may not run the hook for the first certificate; the manual has a command for that.
    await run(`${hooks}/authserver`, [], {
      env: { RENEWED_LINEAGE: lineage, PATH: path },
    });
    const known = { name: NAME, issuer: pebble.root };
    const first = await shownSerial(system, known);
    await call("renew", "--force-renewal", "--no-random-sleep-on-renew");
    assert.notEqual(await shownSerial(system, known), first);
  });
}
