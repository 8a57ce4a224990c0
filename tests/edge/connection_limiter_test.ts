import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { EventEmitter, once } from "node:events";
import { connect as connectTcp, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { type EdgeOptions, LIMITS } from "../../src/edge/edge_options.ts";
import { HttpsEdge } from "../../src/edge/https_edge.ts";
import { createLogger } from "../../src/logging/logger.ts";
import { HeaderList } from "../../src/model/http_message.ts";
import { acceptsConnections } from "../../src/workers/port_watch.ts";
import { createAuthority } from "../pki/authority.ts";
import { binaryHeader, V1 } from "./proxy_headers.ts";
import { readAll } from "./tls_client.ts";
import fc from "fast-check";
import { ConnectionShares } from "../../src/edge/connection_limiter.ts";

const authority = createAuthority({ subject: "CN=Test CA" });
const tls = {
  ...authority.issue({ subject: "CN=localhost", names: ["localhost", "127.0.0.1"] }),
  anchors: [authority.certificate],
  minVersion: "TLSv1.2",
  maxVersion: "TLSv1.3",
  clientCertificate: "none",
} as const;
const BALANCER = "127.0.0.9";
const CLIENT = "127.0.0.1";
const HELLO = Buffer.from("GET / HTTP/1.1\r\nHost: a\r\n\r\n");

/** Starts an edge that answers with the address of its client and the length of the body. */
async function edgeWith(options: Partial<EdgeOptions>, secure = true) {
  const log: string[] = [];
  const settings = {
    address: "127.0.0.1",
    port: 0,
    maxConnections: 0,
    limits: LIMITS,
    proxyPeers: [BALANCER],
    ...(secure && { tls }),
    ...options,
  };
  const edge = await HttpsEdge.start(settings, {
    log: createLogger((line) => log.push(line), { threshold: "info" }),
    groupOf: (address) => address,
    answer: async ({ client, body }) => {
      const { byteLength } = await new Response(body).arrayBuffer();
      return { status: 200, headers: new HeaderList(), body: `${client.address} sent ${byteLength}.` };
    },
  });
  return { port: edge.port, log, [Symbol.asyncDispose]: () => edge.drain(0) };
}

async function dial(port: number, from: string, ...parts: readonly Uint8Array[]): Promise<Socket> {
  const socket = connectTcp({ host: "127.0.0.1", port, localAddress: from });
  socket.setNoDelay();
  socket.on("error", () => {}); // a reset if the edge refuses it
  await once(socket, "connect");
  for (const part of parts) await new Promise((resolve) => socket.write(part, resolve));
  return socket;
}

/** Sends two requests, the second with a body, and reads the bodies of the answers. */
async function ask(socket: Socket, secure = true): Promise<string[]> {
  const on = secure ? connectTls({ socket, servername: "localhost", ca: authority.certificate }) : socket;
  if (secure) await once(on, "secureConnect");
  on.write(HELLO);
  on.write(
    `PUT / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 300000\r\n\r\n${"x".repeat(300_000)}`,
  );
  return (await readAll(on)).match(/\S+ sent \d+/g) ?? [];
}

const as = (address: string) => [`${address} sent 0`, `${address} sent 300000`];

for (const [what, secure] of [["with TLS", true], ["without TLS", false]] as const) {
  Deno.test(`ConnectionLimiter takes the client's address from the header of a listed peer, ${what}`, async () => {
    await using edge = await edgeWith({}, secure);
    const of = async (from: string, ...parts: readonly Uint8Array[]) =>
      await ask(await dial(edge.port, from, ...parts), secure);
    assert.deepEqual(await of(BALANCER, V1), as("192.0.2.7"));
    assert.deepEqual(await of(BALANCER, binaryHeader()), as("192.0.2.7"));
    assert.deepEqual(await of(BALANCER, ...[...V1].map((byte) => Uint8Array.of(byte))), as("192.0.2.7"));
    assert.deepEqual(await of(BALANCER, binaryHeader({ version: 0x20, family: 0, rest: [] })), as(BALANCER));
    assert.deepEqual(await of(CLIENT), as(CLIENT));
    assert.deepEqual(edge.log, []);
  });

  Deno.test(`ConnectionLimiter refuses a header from an unlisted peer, ${what}`, async () => {
    await using edge = await edgeWith({}, secure);
    for (const [i, header] of [V1, binaryHeader(), V1.subarray(0, 20)].entries()) {
      const socket = await dial(edge.port, CLIENT, header);
      if (i < 2) assert.equal(await readAll(socket), "");
      else socket.destroy(); // closed within a header: the edge logs nothing
    }
    assert.equal(edge.log.length, 2);
    for (const line of edge.log) {
      assert.match(line, /peer that is not listed sent a PROXY protocol header client=127\.0\.0\.1/);
    }
  });
}

const REFUSED: readonly [string, Uint8Array, RegExp][] = [
  ["only a request", HELLO, /sent no PROXY protocol header client=127\.0\.0\.9/],
  ["a ClientHello", Uint8Array.of(0x16, 3, 1), /sent no PROXY protocol header/],
  ["a malformed header", Buffer.from("PROXY TCP4 a b 1 2\r\n"), /malformed .*reason="expected two addresses/],
  ["an unterminated header", Buffer.from(`PROXY ${"x".repeat(200)}`), /reason="no end of line in 107 bytes"/],
  ["an overlong header", binaryHeader({ length: 60_000 }), /reason="expected at most 536 bytes/],
];
for (const [what, bytes, line] of REFUSED) {
  Deno.test(`ConnectionLimiter refuses a listed peer that sends ${what}`, async () => {
    await using edge = await edgeWith({}, false);
    assert.equal(await readAll(await dial(edge.port, BALANCER, bytes)), "");
    assert.equal(edge.log.length, 1);
    assert.match(edge.log[0] ?? "", line);
  });
}

for (const bytes of [new Uint8Array(), V1.subarray(0, 30)]) {
  Deno.test(`ConnectionLimiter applies the handshake limit to ${bytes.length} bytes of a header`, async () => {
    await using edge = await edgeWith({ limits: { ...LIMITS, handshakeMs: 50 } });
    assert.equal(await readAll(await dial(edge.port, BALANCER, bytes)), "");
    assert.equal(await readAll(await dial(edge.port, CLIENT, bytes)), "");
    assert.equal(edge.log.length, 1);
    assert.match(edge.log[0] ?? "", /no whole PROXY protocol header in time client=127\.0\.0\.9/);
  });
}

Deno.test("ConnectionLimiter counts connections through a listed peer as those of the client", async () => {
  await using edge = await edgeWith({ maxConnections: 8 });
  const open: Socket[] = [];
  for (let i = 0; i < 4; i++) open.push(await dial(edge.port, BALANCER, V1));
  const fifth = await dial(edge.port, BALANCER, V1);
  assert.equal(await readAll(fifth), "");
  assert.match(edge.log.join("\n"), /there are too many client=192\.0\.2\.7/);
  const other = Buffer.from("PROXY TCP4 192.0.2.8 192.0.2.1 1 2\r\n");
  assert.deepEqual(await ask(await dial(edge.port, BALANCER, other)), as("192.0.2.8"));
  open.forEach((socket) => socket.destroy());
});

Deno.test("ConnectionLimiter permits probes from this host, and does not log them", async () => {
  await using edge = await edgeWith({ proxyPeers: ["127.0.0.0/8"] });
  assert(await acceptsConnections({ address: "127.0.0.1", port: edge.port }));
  assert.deepEqual(edge.log, []);
});

/** Returns the number of granted connections for one address. */
function taken(shares: ConnectionShares, address: string, wanted: number): number {
  return Array.from({ length: wanted }, () => shares.admit(new EventEmitter(), groupOf(address))).filter(
    Boolean,
  ).length;
}

/** Returns the group of an address; a gateway has none and may take all connections. */
const groupOf = (address: string) => address === "gateway" ? undefined : address;

Deno.test("ConnectionShares grants each address at most half of the free connections", () => {
  const shares = new ConnectionShares(1200);
  assert.equal(taken(shares, "a", 5000), 600);
  assert.equal(taken(shares, "b", 5000), 300);
  assert.equal(taken(shares, "c", 5000), 150);
  assert.equal(taken(shares, "somebody else", 10), 10);
});

Deno.test("ConnectionShares grants a gateway all connections, and then none to others", () => {
  const shares = new ConnectionShares(100);
  assert.equal(taken(shares, "gateway", 500), 100);
  assert.equal(taken(shares, "a", 1), 0);
});

Deno.test("ConnectionShares without a limit refuses no connection", () => {
  assert.equal(taken(new ConnectionShares(0), "a", 5000), 5000);
});

Deno.test("ConnectionShares counts open connections by address, in any order of events", () => {
  const address = fc.constantFrom("a", "b", "gateway");
  // More connections open than close, so that many are refused.
  const step = fc.record({ address, of: fc.constantFrom("come", "come", "come", "go", "assign") });
  fc.assert(fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
    const shares = new ConnectionShares(10);
    let open: { socket: EventEmitter; address: string }[] = [];
    const fits = (address: string, others: typeof open) =>
      10 - others.length >
        (address === "gateway" ? 0 : others.filter((one) => one.address === address).length);
    for (const { address, of } of steps) {
      const [first, ...rest] = open;
      if (of === "go") {
        first?.socket.emit("close");
        open = rest;
      } else if (of === "come") {
        const socket = new EventEmitter();
        assert.equal(shares.admit(socket, groupOf(address)), fits(address, open));
        if (fits(address, open)) open.push({ socket, address });
      } else if (first !== undefined) {
        const stays = shares.assign(first.socket, groupOf(address));
        assert.equal(stays, fits(address, rest));
        if (!stays) first.socket.emit("close");
        open = stays ? [...rest, { ...first, address }] : rest;
      }
    }
  }));
});
