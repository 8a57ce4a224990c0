import assert from "node:assert/strict";
import type { OutgoingConfig } from "../../src/config/service_config.ts";
import { SILENT } from "../../src/logging/logger.ts";
import { probeCertificate } from "../../src/outgoing/connect_tls.ts";
import { RemoteUnavailable } from "../../src/outgoing/remote_unavailable.ts";
import { startHttpsServer } from "../identity_provider/https_server.ts";
import { createAuthority } from "../pki/authority.ts";

const authority = createAuthority({ subject: "CN=Test CA" });
const ENDS = new Date("2031-02-03T04:05:06Z");
const credential = authority.issue({
  subject: "CN=localhost",
  names: ["localhost", "127.0.0.1"],
  notAfter: ENDS,
});
const CONFIG: OutgoingConfig = {
  hostnameChecking: "FAIL",
  connectTimeoutMs: 20_000,
  timeoutMs: 20_000,
  maxConnectionsPerHost: 6,
  maxConnections: 20,
  idleTimeoutMs: 30_000,
  showCertificate: false,
  publicRoots: false,
};

const parts = (anchors = [authority.certificate], config = CONFIG) => ({
  config,
  trust: { anchors },
  log: SILENT,
});

for (const host of ["localhost", "127.0.0.1"]) {
  Deno.test(`probeCertificate() returns the expiry date of the certificate of ${host}`, async () => {
    await using server = await startHttpsServer(credential, () => assert.fail("nothing is asked"));
    const { port } = new URL(server.origin);
    assert.equal(
      await probeCertificate({ address: `https://${host}:${port}/path` }, parts()),
      ENDS.getTime(),
    );
  });
}

Deno.test("probeCertificate() sends a host name in both of its handshakes, but no address", async () => {
  for (const [host, expected] of [["localhost", true], ["127.0.0.1", false]] as const) {
    const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
    const server = await startHttpsServer(credential, () => {});
    const heard: string[] = [];
    const passed: Promise<unknown>[] = [];
    const accepting = (async () => {
      for await (const client of listener) passed.push(passOn(client, new URL(server.origin), heard));
    })();
    const { port } = listener.addr;
    await probeCertificate({ address: `https://${host}:${port}/` }, parts());
    listener.close();
    await accepting;
    await server[Symbol.asyncDispose]();
    await Promise.allSettled(passed);
    assert.deepEqual(heard.map((hello) => hello.includes("localhost")), [expected, expected]);
  }
});

/** Passes a connection on to another server, and keeps the client's first bytes. */
async function passOn(client: Deno.TcpConn, { port }: URL, heard: string[]): Promise<void> {
  const server = await Deno.connect({ hostname: "127.0.0.1", port: Number(port) });
  const bytes = new Uint8Array(65536);
  const length = await client.read(bytes) ?? 0;
  heard.push(new TextDecoder("latin1").decode(bytes.subarray(0, length)));
  const writer = server.writable.getWriter();
  await writer.write(bytes.subarray(0, length));
  writer.releaseLock();
  await Promise.allSettled([
    client.readable.pipeTo(server.writable),
    server.readable.pipeTo(client.writable),
  ]);
}

Deno.test("probeCertificate() refuses an untrusted server, and reports why", async () => {
  await using server = await startHttpsServer(credential, () => {});
  const other = createAuthority({ subject: "CN=Other" });
  await assert.rejects(
    probeCertificate({ address: server.origin }, parts([other.certificate])),
    RemoteUnavailable,
  );
  await assert.rejects(
    probeCertificate({ address: server.origin }, parts([])),
    (error) => error instanceof RemoteUnavailable && error.reason === "no trust anchors are configured",
  );
});

Deno.test("probeCertificate() waits no longer than the connection timeout", async () => {
  using mute = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const config = { ...CONFIG, connectTimeoutMs: 50 };
  await assert.rejects(
    probeCertificate({ address: `https://localhost:${mute.addr.port}/` }, parts(undefined, config)),
    (error) => error instanceof RemoteUnavailable && /within 50 ms/.test(error.reason),
  );
});
