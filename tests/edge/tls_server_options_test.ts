import assert from "node:assert/strict";
import { connect } from "node:tls";
import { once } from "node:events";
import { LIMITS } from "../../src/edge/edge_options.ts";
import { HttpsEdge } from "../../src/edge/https_edge.ts";
import { tlsServerOptions } from "../../src/edge/tls_server_options.ts";
import { inTime } from "../fixtures/deadline.ts";
import { createAuthority } from "../pki/authority.ts";
import { partsWith } from "./edge_parts.ts";
import { HeaderList } from "../../src/model/http_message.ts";

const authority = createAuthority({ subject: "CN=Test CA" });
const tls = {
  ...authority.issue({ subject: "CN=localhost", names: ["localhost", "127.0.0.1"] }),
  anchors: [authority.certificate],
  minVersion: "TLSv1.2" as const,
  maxVersion: "TLSv1.3" as const,
};

for (
  const [clientCertificate, asks, demands] of [
    ["none", false, undefined],
    ["requested", true, false],
    ["required", true, true],
  ] as const
) {
  Deno.test(`tlsServerOptions() with client certificates "${clientCertificate}" ${asks ? "requests" : "does not request"} one${demands ? ", and requires it" : ""}`, () => {
    const options = new Map<string, unknown>(Object.entries(tlsServerOptions({ ...tls, clientCertificate })));
    assert.deepEqual([options.get("requestCert") ?? false, options.get("rejectUnauthorized")], [
      asks,
      demands,
    ]);
    assert.deepEqual(options.get("ca"), asks ? [authority.certificate] : undefined);
  });
}

Deno.test("an edge without client certificates identifies no client by one", async () => {
  const known: unknown[] = [];
  const edge = await HttpsEdge.start(
    {
      address: "127.0.0.1",
      port: 0,
      tls: { ...tls, clientCertificate: "none" },
      maxConnections: 0,
      limits: LIMITS,
    },
    partsWith(({ client }) => {
      known.push(client.certificate);
      return Promise.resolve({ status: 200, headers: new HeaderList(), body: null });
    }),
  );
  try {
    const own = authority.issue({ subject: "CN=Ann" });
    const socket = connect({
      host: "127.0.0.1",
      port: edge.port,
      ca: authority.certificate,
      servername: "localhost",
      cert: own.certificate,
      key: own.key,
    });
    await inTime(once(socket, "secureConnect"), "the connection");
    socket.write("GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");
    await inTime(once(socket.resume(), "close"), "the end of the connection");
    assert.deepEqual(known, [undefined]);
  } finally {
    await edge.drain(100);
  }
});
