import assert from "node:assert/strict";
import { disableDefaultTrust, hasNoDefaultTrust } from "../../src/outgoing/exclusive_trust.ts";
import { createAuthority } from "../pki/authority.ts";

/** Returns a separate environment. */
function environment(variables: Record<string, string>) {
  const map = new Map(Object.entries(variables));
  return {
    map,
    get: (name: string) => map.get(name),
    set: (name: string, value: string) => void map.set(name, value),
    delete: (name: string) => void map.delete(name),
  };
}

Deno.test("disableDefaultTrust() leaves no variable that adds authorities", () => {
  const open = environment({
    SSL_CERT_DIR: "/etc",
    SSL_CERT_FILE: "/x",
    DENO_CERT: "/y",
    NODE_EXTRA_CA_CERTS: "/z",
  });
  assert.equal(hasNoDefaultTrust(open), false);
  disableDefaultTrust(open);
  assert.equal(hasNoDefaultTrust(open), true);
  assert.deepEqual([...open.map], [["SSL_CERT_FILE", "/dev/null"], ["DENO_TLS_CA_STORE", "system"]]);
  for (const name of ["SSL_CERT_DIR", "DENO_CERT", "NODE_EXTRA_CA_CERTS"]) {
    assert.equal(
      hasNoDefaultTrust(environment({ ...Object.fromEntries(open.map), [name]: "/x" })),
      false,
      name,
    );
  }
});

/** Worker without environment variables that tries to reach a server. */
const WORKER = `onmessage = async ({ data: [port, caCerts] }) => {
  const connection = await Deno.connectTls({ hostname: "localhost", port, caCerts });
  postMessage(await connection.handshake().then(() => "trusted", (error) => error.message));
  connection.close();
}`;

/** Script of a process with a server and that worker, from a blob, to avoid a fetch. */
const SCRIPT = `
import { createServer } from "node:tls";
import { disableDefaultTrust } from ${
  JSON.stringify(new URL("../../src/outgoing/exclusive_trust.ts", import.meta.url).href)
};
const { cert, key, root, close } = JSON.parse(Deno.args[0]);
if (close) disableDefaultTrust(Deno.env);
const server = createServer({ cert, key }, (socket) => socket.on("error", () => {}).end());
server.on("tlsClientError", () => {});
server.listen(0, "localhost", () => {
  const url = URL.createObjectURL(new Blob([${JSON.stringify(WORKER)}]));
  const ask = (caCerts) => new Promise((resolve) => {
    const worker = new Worker(url, { type: "module", deno: { permissions: { net: true } } });
    worker.onmessage = ({ data }) => resolve(data);
    worker.postMessage([server.address().port, caCerts]);
  });
  Promise.all([ask([]), ask([root])]).then((told) => { console.log(JSON.stringify(told)); Deno.exit(); });
});`;

Deno.test("disableDefaultTrust() applies in workers: they trust a given authority, but none from the environment", async () => {
  const authority = createAuthority({ subject: "CN=Public" });
  const { certificate: cert, key } = authority.issue({ subject: "CN=x", names: ["localhost"] });
  const folder = await Deno.makeTempDir({ prefix: "authserver-trust-" });
  try {
    await Deno.writeTextFile(`${folder}/roots.pem`, authority.certificate);
    await Deno.writeTextFile(`${folder}/script.js`, SCRIPT);
    const run = async (close: boolean, variables: Record<string, string>) => {
      const { stdout, stderr } = await new Deno.Command(Deno.execPath(), {
        args: [
          "run",
          "--no-config",
          "--no-lock",
          "--allow-all",
          "--unstable-worker-options",
          `${folder}/script.js`,
          JSON.stringify({ cert, key, root: authority.certificate, close }),
        ],
        clearEnv: true,
        env: { DENO_TLS_CA_STORE: "system", ...variables },
      }).output();
      assert.notEqual(stdout.length, 0, new TextDecoder().decode(stderr));
      return JSON.parse(new TextDecoder().decode(stdout));
    };
    const roots = `${folder}/roots.pem`;
    const names = ["SSL_CERT_FILE", "DENO_CERT", "NODE_EXTRA_CA_CERTS"];
    await Promise.all(names.map(async (name) => {
      assert.deepEqual(await run(false, { [name]: roots }), ["trusted", "trusted"], name);
    }));
    const all = Object.fromEntries(names.map((name) => [name, roots]));
    assert.deepEqual(await run(true, all), ["invalid peer certificate: UnknownIssuer", "trusted"]);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
