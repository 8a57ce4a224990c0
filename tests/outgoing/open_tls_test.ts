import assert from "node:assert/strict";
import { SILENT } from "../../src/logging/logger.ts";
import { openTls } from "../../src/outgoing/open_tls.ts";
import { startHttpsServer } from "../identity_provider/https_server.ts";
import { createAuthority } from "../pki/authority.ts";

const authority = createAuthority({ subject: "CN=Test CA" });
const issued = authority.issue({ subject: "CN=localhost", names: ["localhost"] });
const alone = createAuthority({ subject: "CN=localhost", ca: false, names: ["localhost"] });

const REQUEST = new TextEncoder().encode("GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");

for (
  const [what, credential, anchor] of [
    ["by an authority", issued, authority.certificate],
    ["as itself", alone, alone.certificate],
  ] as const
) {
  Deno.test(`openTls() returns a connection to a server trusted ${what}, which fails after it is closed`, async () => {
    await using server = await startHttpsServer(credential, (_request, response) => response.end("hello"));
    const connection = await openTls({ host: "localhost", port: server.port }, {
      hostnameChecking: "FAIL",
      trust: { anchors: [anchor] },
      log: SILENT,
      connectTimeoutMs: 10_000,
      signal: AbortSignal.timeout(20_000),
    });
    await connection.write(REQUEST);
    let text = "";
    for (let part = await connection.read(); part !== undefined; part = await connection.read()) {
      text += new TextDecoder().decode(part);
    }
    assert.match(text, /^HTTP\/1.1 200 [^]*hello/);
    connection.close();
    await assert.rejects(connection.write(REQUEST));
  });
}

Deno.test("openTls() gives up if its caller leaves at the end of the exchange before TLS", async () => {
  await using server = await startHttpsServer(issued, () => {});
  const leaving = new AbortController();
  const opening = openTls({ host: "localhost", port: server.port }, {
    hostnameChecking: "FAIL",
    trust: { anchors: [authority.certificate] },
    log: SILENT,
    connectTimeoutMs: 10_000,
    beforeTls: async () => {
      await Promise.resolve();
      leaving.abort(new Error("the caller left"));
    },
    signal: leaving.signal,
  });
  await assert.rejects(opening, /the caller left/);
});

Deno.test("openTls() opens nothing for a caller who has left", async () => {
  await using server = await startHttpsServer(issued, () => {});
  const opening = openTls({ host: "localhost", port: server.port }, {
    hostnameChecking: "FAIL",
    trust: { anchors: [authority.certificate] },
    log: SILENT,
    connectTimeoutMs: 10_000,
    signal: AbortSignal.abort(new Error("the caller left")),
  });
  await assert.rejects(opening, /the caller left/);
});
