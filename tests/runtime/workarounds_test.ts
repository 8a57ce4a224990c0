/**
 * Tests behaviour of the runtime that the service works around. If a test fails here, the runtime has changed:
 * simplify the file that the test names, if possible, and update the list in docs/architecture.md.
 */
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { createDecipheriv, createPrivateKey, createPublicKey, X509Certificate } from "node:crypto";
import { once } from "node:events";
import { Agent, createServer as createHttpServer, request } from "node:http";
import { createServer as createTcpServer, type Socket } from "node:net";
import { connect, createSecureContext, createServer, type TLSSocket } from "node:tls";
import { openRegularFile } from "../../src/model/regular_file.ts";
import { startLyingServer } from "../attack/lying_tls_server.ts";
import { inTime } from "../fixtures/deadline.ts";
import { ownProcess } from "../fixtures/own_process.ts";
import { createAuthority } from "../pki/authority.ts";

const authority = createAuthority({ subject: "CN=Site CA" });
const own = authority.issue({ subject: "CN=localhost", names: ["localhost", "127.0.0.1"] });

/** Registers a test that shows that a workaround is still needed. */
function still(what: string, workaround: string, fn: () => Promise<void> | void): void {
  Deno.test(`${what}: src/${workaround} is needed`, fn);
}

/** Starts a TLS server on loopback that passes each connection to `took`. */
async function tlsServer(took: (socket: TLSSocket) => void) {
  const server = createServer({ cert: own.certificate, key: own.key }, (socket) => {
    socket.on("error", () => {});
    took(socket);
  });
  server.on("tlsClientError", () => {});
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  assert(typeof address === "object" && address !== null);
  return {
    port: address.port,
    [Symbol.asyncDispose]: () => new Promise<void>((done) => server.close(() => done())),
  };
}

still("pause() of a TLS connection does not stop reading", "edge/back_pressure.ts", async () => {
  const { promise: taken, resolve } = Promise.withResolvers<TLSSocket>();
  await using server = await tlsServer((socket) => resolve(socket.pause()));
  using client = await Deno.connectTls({
    hostname: "localhost",
    port: server.port,
    caCerts: [authority.certificate],
  });
  await client.handshake();
  const socket = await taken;
  const writer = client.writable.getWriter();
  const block = new Uint8Array(1024 * 1024);
  // Far more than systems buffer for an unread connection.
  for (let sent = 0; sent < 64; sent++) {
    await inTime(writer.write(block), "the end of a write that nobody reads");
  }
  socket.destroy();
  writer.abort().catch(() => {});
});

still(
  "node:tls reads the peer's certificate and ignores it",
  "daemon/command_connection.ts #open",
  async () => {
    await using server = await tlsServer((socket) => socket.end());
    const client = connect({
      host: "127.0.0.1",
      port: server.port,
      ca: [authority.certificate],
      checkServerIdentity: () => undefined,
    });
    let asked = 0;
    Object.defineProperty(client, "getPeerCertificate", { value: () => (asked++, {}) });
    await once(client, "secureConnect");
    client.destroy();
    assert.equal(asked, 1);
  },
);

for (const version of ["TLSv1.2", "TLSv1.3"] as const) {
  still(
    `node:tls accepts a copied version 1 certificate without its key (${version})`,
    "model/trust/proof_of_key.ts",
    async () => {
      const copied = authority.issue({ subject: "CN=localhost", version: 1 });
      const thief = authority.impostor().issue({ subject: "CN=thief" });
      const chain = [new X509Certificate(copied.certificate).raw];
      await using server = await startLyingServer({ chain, key: createPrivateKey(thief.key), version });
      const client = connect({
        host: "127.0.0.1",
        port: server.port,
        ca: [authority.certificate],
        checkServerIdentity: () => undefined,
      });
      await once(client, "secureConnect");
      assert.equal(client.authorized, true);
      client.destroy();
    },
  );
}

still("Deno.connectTls cannot be cancelled", "outgoing/tls_stream.ts", async () => {
  await using server = await tlsServer((socket) => socket.end());
  const options = {
    hostname: "localhost",
    port: server.port,
    caCerts: [authority.certificate],
    signal: AbortSignal.abort(),
  };
  const connection = await Deno.connectTls(options);
  await connection.handshake().catch(() => {});
  connection.close();
});

still("a closed connection stays open until its handshake ends", "outgoing/open_tls.ts", async () => {
  const accepted = Promise.withResolvers<Socket>();
  const server = createTcpServer((socket) => accepted.resolve(socket.on("error", () => {})));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  assert(typeof address === "object" && address !== null);
  const connection = await Deno.connectTls({ hostname: "127.0.0.1", port: address.port });
  const socket = await inTime(accepted.promise, "the connection");
  await inTime(once(socket, "data"), "the beginning of the handshake");
  const interrupted = assert.rejects(connection.handshake());
  connection.close();
  await interrupted;
  const told = new Promise((resolve) => socket.once("data", () => resolve("an alert")).once("end", resolve));
  socket.write("no TLS");
  assert.equal(await inTime(told, "an answer"), "an alert");
  socket.destroy();
  await new Promise<void>((resolve) => server.close(() => resolve()));
});

/** Script of a process whose system trusts another authority. */
const TRUST = `
const [port, other] = JSON.parse(Deno.args[0]);
const connection = await Deno.connectTls({ hostname: "localhost", port, caCerts: [other] });
await connection.handshake();
console.log("trusted");
connection.close();
`;

still("given authorities are added to the system's", "outgoing/exclusive_trust.ts", async () => {
  await using server = await tlsServer((socket) => socket.end());
  const folder = await Deno.makeTempDir({ prefix: "authserver-runtime-" });
  try {
    await Deno.writeTextFile(`${folder}/system.pem`, authority.certificate);
    await Deno.writeTextFile(`${folder}/trust.js`, TRUST);
    const other = createAuthority({ subject: "CN=Other CA" }).certificate;
    const { stdout, stderr } = await new Deno.Command(Deno.execPath(), {
      args: [
        "run",
        "--no-config",
        "--no-lock",
        "--allow-net",
        `${folder}/trust.js`,
        JSON.stringify([server.port, other]),
      ],
      clearEnv: true,
      env: { DENO_TLS_CA_STORE: "system", SSL_CERT_FILE: `${folder}/system.pem` },
    }).output();
    assert.equal(new TextDecoder().decode(stdout).trim(), "trusted", new TextDecoder().decode(stderr));
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

still(
  "a cancelled call on a kept connection gets another one",
  "outgoing/https_client.ts",
  async () => {
    let first = true;
    const server = createHttpServer((_request, response) => {
      if (first) response.end();
      first = false;
    });
    await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
    const address = server.address();
    assert(typeof address === "object" && address !== null);
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const url = `http://127.0.0.1:${address.port}/`;
    const freed = once(agent, "free");
    request(url, { agent }).on("response", (response) => response.resume()).end();
    await freed;
    const another = once(server, "connection");
    const call = request(url, { agent }).on("error", () => {}).end();
    await once(server, "request");
    call.destroy();
    await inTime(another, "a connection for the call that was given up");
    agent.destroy();
    server.closeAllConnections();
    await new Promise<void>((done) => server.close(() => done()));
  },
);

still(
  "node:http sets and clears timeouts of a connection for each request",
  "edge/connection_watch.ts",
  async () => {
    const server = createHttpServer({ keepAliveTimeout: 60_000 }, (_request, response) => response.end());
    let timers = 0;
    server.on("connection", (socket) => {
      const set = socket.setTimeout;
      socket.setTimeout = (...given) => {
        timers++;
        return set.apply(socket, given);
      };
    });
    await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
    const address = server.address();
    assert(typeof address === "object" && address !== null);
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const REQUESTS = 10;
    for (let sent = 0; sent < REQUESTS; sent++) {
      const freed = once(agent, "free");
      request(`http://127.0.0.1:${address.port}/`, { agent }).on("response", (response) => response.resume())
        .end();
      await freed;
    }
    assert(timers >= REQUESTS, `${timers} times for ${REQUESTS} requests`);
    agent.destroy();
    await new Promise<void>((done) => server.close(() => done()));
  },
);

still(
  "a worker's death overtakes its messages to its parent, but not those to a port",
  "workers/serving_core.ts",
  async () => {
    const { stdout } = await ownProcess(new URL("./overtaken_messages.ts", import.meta.url));
    assert(Number(stdout) > 0, "all that was posted arrived");
  },
);

still("Deno.open blocks at a pipe without a writer", "model/regular_file.ts", async () => {
  const folder = await Deno.makeTempDir({ prefix: "authserver-runtime-" });
  const pipe = `${folder}/pipe`;
  try {
    await new Deno.Command("mkfifo", { args: [pipe] }).output();
    let opened = false;
    const opening = Deno.open(pipe).finally(() => opened = true);
    await assert.rejects(openRegularFile(pipe), /is no regular file/);
    assert.equal(opened, false);
    const writer = await Deno.open(pipe, { write: true });
    (await opening).close();
    writer.close();
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

still("the runtime does not read RSA keys above 4096 bits", "model/trust/signed_by.ts", async () => {
  const file = (name: string) => new URL(`../model/fixtures/${name}`, import.meta.url);
  const pem = await Deno.readTextFile(file("rsa_5120_ca.pem"));
  const certificate = new X509Certificate(pem);
  assert.throws(() => certificate.verify(certificate.publicKey));
  const key = createPrivateKey(await Deno.readTextFile(file("rsa_5120_host.key")));
  const own = createPublicKey(key).export({ type: "spki", format: "pem" });
  assert.throws(() => createPublicKey(own), "so neither tokens nor assertions are verified with others'");
});

still("the runtime opens no unencrypted key stores", "config/tls/pkcs12_certificates.ts", async () => {
  const pfx = await Deno.readFile(new URL("../config/tls/fixtures/trust-plain.p12", import.meta.url));
  assert.throws(() => createSecureContext({ pfx: Buffer.from(pfx) }));
});

still("the runtime has no RC2", "config/tls/rc2.ts", () => {
  assert.throws(() => createDecipheriv("rc2-40-cbc", Buffer.alloc(5), Buffer.alloc(8)));
});

still("Deno.stat reports the time of a change in whole seconds", "watch/watched_file.ts", async () => {
  const file = await Deno.makeTempFile({ prefix: "authserver-runtime-" });
  try {
    const parts = new Set<number>();
    for (let change = 0; change < 20; change++) {
      await Deno.writeTextFile(file, String(change));
      const { ctime } = await Deno.stat(file);
      parts.add((ctime?.getTime() ?? 0) % 1000);
      await new Promise((resolve) => setImmediate(resolve));
    }
    assert.deepEqual([...parts], [0]);
  } finally {
    await Deno.remove(file);
  }
});
