/** Tests client certificates that expire or are revoked while their connections stay open. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { type EdgeTls, LIMITS } from "../../src/edge/edge_options.ts";
import { HttpsEdge } from "../../src/edge/https_edge.ts";
import { HeaderList } from "../../src/model/http_message.ts";
import { inTime } from "../fixtures/deadline.ts";
import { createAuthority } from "../pki/authority.ts";
import { partsWith } from "./edge_parts.ts";
import { openTls } from "./tls_client.ts";

const NOW = Date.now();
const authority = createAuthority({ subject: "CN=Test CA" });
const between = authority.subordinate({ subject: "CN=Middle CA", notAfter: new Date(NOW + 3_600_000) });
const user = between.issue({ subject: "CN=Ann", notAfter: new Date(NOW + 7_200_000) });
const lists = (certificates: readonly string[], nextUpdate = new Date(NOW + 9_000_000)) =>
  [between.revoke(certificates, { nextUpdate }), authority.revoke([], { nextUpdate })].map((pem) =>
    pem.replaceAll(/-----.*-----|\s/g, "")
  );
const tls: EdgeTls = {
  ...authority.issue({ subject: "CN=localhost", names: ["localhost", "127.0.0.1"] }),
  anchors: [authority.certificate],
  clientCertificate: "requested",
  minVersion: "TLSv1.2",
  maxVersion: "TLSv1.3",
};

/** Starts an edge and opens a connection for Ann; `caller()` returns the subject that the edge sees. */
async function connected(more: Partial<EdgeTls> = {}) {
  const state = { now: NOW };
  const options = {
    address: "127.0.0.1",
    port: 0,
    maxConnections: 0,
    limits: LIMITS,
    tls: { ...tls, ...more },
  };
  const parts = partsWith(({ client }) => {
    const body = client.certificate?.subject ?? `nobody: ${client.unusableCertificate}`;
    return Promise.resolve({
      status: 200,
      headers: new HeaderList(["Content-Length", String(body.length)]),
      body,
    });
  });
  const edge = await HttpsEdge.start(options, { ...parts, clock: () => state.now });
  const socket = await openTls(edge.port, {
    cert: user.certificate + between.certificate,
    key: user.key,
  });
  return {
    edge,
    state,
    socket,
    async caller(): Promise<string> {
      socket.write("GET / HTTP/1.1\r\nHost: h\r\n\r\n");
      const [bytes]: Uint8Array[] = await inTime(once(socket, "data"), "an answer");
      return new TextDecoder().decode(bytes).split("\r\n\r\n")[1] ?? "";
    },
    async [Symbol.asyncDispose]() {
      socket.destroy();
      await edge.drain(100);
    },
  };
}

Deno.test("a kept connection no longer identifies its client after the issuing authority has expired", async () => {
  await using at = await connected();
  assert.equal(await at.caller(), "CN=Ann");
  at.state.now = NOW + 3_590_000;
  assert.equal(await at.caller(), "CN=Ann");
  at.state.now = NOW + 3_602_000;
  assert.match(await at.caller(), /^nobody: /);
});

Deno.test("a kept connection no longer identifies its client after a new list revokes the certificate", async () => {
  const revocation = (certificates: readonly string[]) => ({
    mode: "IF_VALID" as const,
    lists: lists(certificates),
  });
  await using at = await connected({ revocation: revocation([]) });
  assert.equal(await at.caller(), "CN=Ann");
  at.edge.renewTls({ ...tls, revocation: revocation([user.certificate]) });
  assert.match(await at.caller(), /^nobody: .*revoked/);
});

Deno.test("a kept connection no longer identifies its client a minute after the required list has expired", async () => {
  const required = { mode: "REQUIRE" as const, lists: lists([], new Date(NOW + 10_000)) };
  await using at = await connected({ revocation: required });
  assert.equal(await at.caller(), "CN=Ann");
  at.state.now = NOW + 61_000;
  assert.match(await at.caller(), /^nobody: /);
});

Deno.test("if client certificates are required, the edge closes the connection of an expired one", async () => {
  await using at = await connected({ clientCertificate: "required" });
  assert.equal(await at.caller(), "CN=Ann");
  at.state.now = NOW + 3_602_000;
  const closed = once(at.socket, "close");
  at.socket.on("error", () => {});
  at.socket.write("GET / HTTP/1.1\r\nHost: h\r\n\r\n");
  await inTime(closed, "the end of the connection");
});
