/** Tests bytes in place of a TLS handshake, and failed handshakes. The edge passes none of them on. */
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { once } from "node:events";
import { connect } from "node:net";
import { LIMITS } from "../../src/edge/edge_options.ts";
import { HttpsEdge } from "../../src/edge/https_edge.ts";
import { createAuthority } from "../pki/authority.ts";
import { partsWith } from "./edge_parts.ts";
import { openTls, readAll } from "./tls_client.ts";
import { HeaderList } from "../../src/model/http_message.ts";

const authority = createAuthority({ subject: "CN=Test CA" });
const credential = authority.issue({ subject: "CN=localhost", names: ["localhost"] });
let heard = 0;
const edge = await HttpsEdge.start(
  {
    address: "127.0.0.1",
    port: 0,
    maxConnections: 0,
    tls: {
      ...credential,
      anchors: [],
      clientCertificate: "none",
      minVersion: "TLSv1.2",
      maxVersion: "TLSv1.3",
    },
    limits: { ...LIMITS, handshakeMs: 500, checkMs: 50 },
  },
  partsWith(() => {
    heard++;
    return Promise.resolve({ status: 200, headers: new HeaderList(["Content-Length", "2"]), body: "ok" });
  }),
);
Deno.test.afterAll(() => edge.drain(100));

/** Returns a TLS record (RFC 8446, 5.1). */
const record = (type: number, body: readonly number[], version = 0x0301, length = body.length) =>
  Buffer.from([type, version >> 8, version & 255, length >> 8, length & 255, ...body]);
const [CHANGE_CIPHER_SPEC, ALERT, HANDSHAKE, APPLICATION_DATA] = [20, 21, 22, 23];
/** Returns a ClientHello of TLS 1.2 for localhost, with the given extensions. */
function hello(extensions: readonly number[] = [], { suites = [0xc0, 0x2b], session = [0] } = {}): number[] {
  const body = [3, 3, ...new Array(32).fill(7), ...session, 0, suites.length, ...suites, 1, 0];
  const end = [extensions.length >> 8, extensions.length & 255, ...extensions];
  const whole = [...body, ...end];
  return [1, 0, whole.length >> 8, whole.length & 255, ...whole];
}
const GOOD = hello([0, 10, 0, 4, 0, 2, 0, 23, 0, 13, 0, 4, 0, 2, 4, 3]);

const BYTES: [string, Uint8Array][] = [
  ["an unencrypted HTTP request", Buffer.from("GET / HTTP/1.1\r\nHost: h\r\n\r\n")],
  ["noise", Buffer.from(Array.from({ length: 4000 }, (_, i) => (i * 7919) & 255))],
  ["zeros", Buffer.alloc(4000)],
  ["a hello of SSL 2", Buffer.from([0x80, 0x2e, 1, 0, 2, 0, 0x15, 0, 0, 0, 0x10, ...new Array(40).fill(0)])],
  ["a record of an unknown type", record(99, GOOD)],
  ["a record of version 9.9", record(HANDSHAKE, GOOD, 0x0909)],
  ["a record over the maximum length", record(HANDSHAKE, new Array(20_000).fill(1), 0x0301, 0xffff)],
  ["an empty record", record(HANDSHAKE, [])],
  ["a thousand empty records", Buffer.concat(Array.from({ length: 1000 }, () => record(HANDSHAKE, [])))],
  ["a hello longer than its length field", record(HANDSHAKE, [1, 0, 0, 4, ...GOOD.slice(4)])],
  ["a hello with a length field of 16 MB", record(HANDSHAKE, [1, 255, 255, 255, ...GOOD.slice(4)])],
  ["half a hello", record(HANDSHAKE, GOOD.slice(0, 30))],
  ["a hello truncated within its record", record(HANDSHAKE, GOOD).subarray(0, 20)],
  ["a hello without cipher suites", record(HANDSHAKE, hello([], { suites: [] }))],
  ["a hello with unknown suites", record(HANDSHAKE, hello([], { suites: [0xfa, 0xfa] }))],
  ["a hello with an overlong session identifier", record(HANDSHAKE, hello([], { session: [255] }))],
  ["an extension longer than the hello", record(HANDSHAKE, hello([0, 10, 255, 255, 0]))],
  [
    "a duplicate extension",
    record(HANDSHAKE, hello([0, 10, 0, 4, 0, 2, 0, 23, 0, 10, 0, 4, 0, 2, 0, 23])),
  ],
  ["a server name with NUL", record(HANDSHAKE, hello([0, 0, 0, 7, 0, 5, 0, 0, 2, 97, 0]))],
  ["a server's hello", record(HANDSHAKE, [2, ...GOOD.slice(1)])],
  ["a key exchange before any hello", record(HANDSHAKE, [16, 0, 0, 4, 1, 2, 3, 4])],
  ["an alert before any hello", record(ALERT, [2, 40])],
  ["a change of cipher before any hello", record(CHANGE_CIPHER_SPEC, [1])],
  ["data before any hello", record(APPLICATION_DATA, [...Buffer.from("GET / HTTP/1.1\r\n\r\n")])],
  ["data after the hello", Buffer.concat([record(HANDSHAKE, GOOD), record(APPLICATION_DATA, [1, 2, 3])])],
  ["two hellos", Buffer.concat([record(HANDSHAKE, GOOD), record(HANDSHAKE, GOOD)])],
  ["a heartbeat", Buffer.concat([record(HANDSHAKE, GOOD), record(24, [1, 0x40, 0])])],
  [
    "ALPN with only an unknown protocol",
    record(HANDSHAKE, hello([0, 16, 0, 6, 0, 4, 3, 120, 121, 122])),
  ],
];
for (const [what, bytes] of BYTES) {
  Deno.test(`HttpsEdge ends a connection that begins with ${what}, and keeps serving`, async () => {
    const before = heard;
    const socket = connect(edge.port, "127.0.0.1");
    socket.on("error", () => {}); // a reset ends it as well
    socket.resume();
    socket.write(bytes);
    await once(socket, "close");
    assert.equal(heard, before, "nobody behind the edge hears of it");
    const good = await openTls(edge.port);
    good.write("GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");
    assert.match(await readAll(good), /^HTTP\/1\.1 200 /);
  });
}

Deno.test("HttpsEdge survives clients that leave at any moment of the handshake", async () => {
  const whole = record(HANDSHAKE, GOOD);
  await Promise.all(Array.from({ length: whole.length }, async (_, length) => {
    const socket = connect(edge.port, "127.0.0.1");
    socket.on("error", () => {});
    await once(socket, "connect");
    socket.write(
      whole.subarray(0, length),
      () => length % 2 === 0 ? socket.resetAndDestroy() : socket.destroy(),
    );
    await once(socket, "close");
  }));
  const good = await openTls(edge.port);
  good.write("GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");
  assert.match(await readAll(good), /^HTTP\/1\.1 200 /);
});
