import assert from "node:assert/strict";
import { type EdgeTls, LIMITS } from "../../src/edge/edge_options.ts";
import { HttpsEdge } from "../../src/edge/https_edge.ts";
import { createAuthority } from "../pki/authority.ts";
import { partsWith } from "./edge_parts.ts";
import { HeaderList } from "../../src/model/http_message.ts";

const authority = createAuthority({ subject: "CN=Test CA" });
const tls: EdgeTls = {
  ...authority.issue({ subject: "CN=localhost", names: ["localhost", "127.0.0.1"] }),
  anchors: [],
  clientCertificate: "none",
  minVersion: "TLSv1.2",
  maxVersion: "TLSv1.3",
};

Deno.test("HttpsEdge stops an upload whose reader stops reading", async () => {
  const given = new AbortController();
  const limits = { ...LIMITS, checkMs: 50, silentMs: 300 };
  const edge = await HttpsEdge.start(
    { address: "127.0.0.1", port: 0, tls, maxConnections: 0, limits },
    partsWith(async ({ body }) => {
      assert(body instanceof ReadableStream);
      await body.getReader().read();
      await new Promise((_, reject) =>
        given.signal.addEventListener("abort", () => reject(given.signal.reason))
      );
      return { status: 200, headers: new HeaderList(), body: null };
    }),
  );
  try {
    using conn = await Deno.connectTls({
      hostname: "localhost",
      port: edge.port,
      caCerts: [authority.certificate],
    });
    await conn.write(
      new TextEncoder().encode("PUT / HTTP/1.1\r\nHost: h\r\nContent-Length: 200000000\r\n\r\n"),
    );
    const part = new Uint8Array(64 * 1024);
    let sent = 0;
    // Once the buffers in between are full, no data moves, and the edge closes the connection.
    await assert.rejects(async () => {
      for (; sent < 200_000_000; sent += part.length) await conn.write(part);
    });
    assert(sent < 100_000_000, `${sent} bytes were taken`);
  } finally {
    given.abort();
    await edge.drain(100);
  }
});
