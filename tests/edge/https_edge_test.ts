import assert from "node:assert/strict";
import { once } from "node:events";
import { connect as connectTcp } from "node:net";
import { type EdgeLimits, type EdgeTls, LIMITS } from "../../src/edge/edge_options.ts";
import { HttpsEdge } from "../../src/edge/https_edge.ts";
import { createLogger } from "../../src/logging/logger.ts";
import { type Handler, HeaderList, type HttpRequest } from "../../src/model/http_message.ts";
import { inTime, until } from "../fixtures/deadline.ts";
import { readJson } from "../../src/resource/request_body.ts";
import { createAuthority, type Credential } from "../pki/authority.ts";
import { partsWith } from "./edge_parts.ts";
import { openTls, readAll } from "./tls_client.ts";

const authority = createAuthority({ subject: "CN=Test CA" });
const credential = authority.issue({ subject: "CN=localhost", names: ["localhost", "127.0.0.1"] });
const tls = {
  ...credential,
  anchors: [authority.certificate],
  clientCertificate: "requested" as const,
  minVersion: "TLSv1.2" as const,
  maxVersion: "TLSv1.3" as const,
};

interface Setting {
  readonly limits?: Partial<EdgeLimits>;
  readonly maxConnections?: number;
  readonly tls?: Partial<EdgeTls>;
  readonly answer?: Handler;
}

const hello: Handler = () =>
  Promise.resolve({ status: 200, headers: new HeaderList(["Content-Length", "2"]), body: "ok" });

/** Runs a test against a new edge, and stops it. */
async function withEdge(setting: Setting, test: (port: number, seen: HttpRequest[]) => Promise<void>) {
  const seen: HttpRequest[] = [];
  const answer: Handler = (request, signal) => {
    seen.push(request);
    return (setting.answer ?? hello)(request, signal);
  };
  const limits = { ...LIMITS, checkMs: 50, ...setting.limits };
  const options = {
    address: "127.0.0.1",
    port: 0,
    tls: { ...tls, ...setting.tls },
    maxConnections: setting.maxConnections ?? 0,
    limits,
  };
  const edge = await HttpsEdge.start(options, partsWith(answer));
  try {
    await test(edge.port, seen);
  } finally {
    await edge.drain(100);
  }
}

async function send(port: number, text: string): Promise<string> {
  const socket = await openTls(port);
  socket.write(text);
  return await readAll(socket);
}

Deno.test("HttpsEdge passes on method, target, headers, client and body", async () => {
  await withEdge({}, async (port, seen) => {
    const reply = await send(
      port,
      "POST /rest/auth/HPC?x=%2F HTTP/1.1\r\nHost: h\r\nX-A: 1\r\nContent-Length: 4\r\nConnection: close\r\n\r\nbody",
    );
    assert.match(reply, /^HTTP\/1.1 200 /);
    assert.match(reply, /ok$/);
    const [request] = seen;
    assert(request && request.body instanceof Uint8Array);
    assert.equal(request.method, "POST");
    assert.equal(request.path, "/rest/auth/HPC");
    assert.equal(request.query, "x=%2F");
    assert.equal(request.headers.get("X-A"), "1");
    assert.equal(request.client.address, "127.0.0.1");
    assert.equal(request.client.certificate, undefined);
    assert.equal(new TextDecoder().decode(request.body), "body");
  });
});

Deno.test("HttpsEdge identifies a client only by a valid certificate", async () => {
  await withEdge({}, async (port, seen) => {
    const request = "GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n";
    const client = authority.issue({ subject: "CN=Ann,O=Site,C=DE", extendedKeyUsage: ["clientAuth"] });
    const known = await openTls(port, { cert: client.certificate, key: client.key });
    known.write(request);
    await readAll(known);
    assert.equal(seen[0]?.client.certificate?.subject, "CN=Ann,O=Site,C=DE");

    const foreign = createAuthority({ subject: "CN=Other CA" }).issue({ subject: "CN=Ann,O=Site,C=DE" });
    const unknown = await openTls(port, { cert: foreign.certificate, key: foreign.key });
    unknown.write(request);
    await readAll(unknown).catch(() => ""); // the edge may close it or accept it as anonymous
    assert(seen.slice(1).every(({ client }) => client.certificate === undefined));
  });
});

const GET = "GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n";
const subject = "CN=Ann,O=Site,C=DE";
const entity = createAuthority({ subject: "CN=Daemon,O=Site", ca: false });
const marked = createAuthority({ subject: "CN=Marked,O=Site" });
const serverOnly = createAuthority({
  subject: "CN=Server,O=Site",
  ca: false,
  extendedKeyUsage: ["serverAuth"],
});
const [lower, other] = [
  authority.subordinate({ subject: "CN=Lower" }),
  createAuthority({ subject: "CN=Other" }),
];
const lowest = lower.subordinate({ subject: "CN=Lowest" });
const deep = lowest.issue({ subject });
const FIXTURES = new URL("../model/fixtures/", import.meta.url).pathname;
/** RSA key that TLS accepts although `node:crypto` does not read it. */
const large = {
  certificate: await Deno.readTextFile(`${FIXTURES}rsa_5120_host.pem`),
  key: await Deno.readTextFile(`${FIXTURES}rsa_5120_host.key`),
};
const anchors = [authority, entity, marked, serverOnly, large].map(({ certificate }) => certificate);
const past = new Date("2021-01-01");

const clients: [string, Credential, string | undefined][] = [
  ["of an authority", authority.issue({ subject }), subject],
  ["behind two intermediates", {
    certificate: deep.certificate + lowest.certificate + lower.certificate,
    key: deep.key,
  }, subject],
  ["that is itself trusted", entity, "CN=Daemon,O=Site"],
  ["with an RSA key of 5120 bits that is itself trusted", large, "CN=Host 5120,O=Large"],
  ["signed by a trusted end entity", entity.issue({ subject }), undefined],
  [
    "signed by a certificate that a leaf signed",
    authority.subordinate({ subject: "CN=X", ca: false })
      .issue({ subject }),
    undefined,
  ],
  ["that is trusted, but for servers", serverOnly, undefined],
  ["for servers", authority.issue({ subject, extendedKeyUsage: ["serverAuth"] }), undefined],
  ["that has expired", authority.issue({ subject, notAfter: past }), undefined],
  ["of an unknown authority", other.issue({ subject }), undefined],
  ["of an impostor", authority.impostor().issue({ subject }), undefined],
  ["of version 1", authority.issue({ subject, version: 1 }), undefined],
  ["of version 1 and an impostor", authority.impostor().issue({ subject, version: 1 }), undefined],
];
for (const [what, client, name] of clients) {
  for (const clientCertificate of ["requested", "required"] as const) {
    Deno.test(`HttpsEdge verifies a client certificate ${what} (${clientCertificate})`, async () => {
      await withEdge({ tls: { anchors, clientCertificate } }, async (port, seen) => {
        const shown = { cert: client.certificate, key: client.key };
        const sent = openTls(port, shown).then(async (socket) => {
          socket.write(GET);
          return await readAll(socket);
        });
        // The edge may close the connection or accept it as anonymous.
        const answer = await sent.catch(() => "");
        assert.equal(seen[0]?.client.certificate?.subject, name);
        const why = seen[0]?.client.unusableCertificate;
        if (name !== undefined) assert.equal(why, undefined);
        else if (seen.length > 0 && what === "of version 1") {
          assert.match(why ?? "", /not of X\.509 version 3/);
        }
        if (clientCertificate === "required") assert.equal(answer !== "", name !== undefined);
      });
    });
  }
}

const refused: [string, string, number, string][] = [
  [
    "a header block over 16 KiB",
    `GET / HTTP/1.1\r\nHost: h\r\nX: ${"a".repeat(17_000)}\r\n\r\n`,
    431,
    "ERR_HEADERS_TOO_LARGE",
  ],
  ["bytes that are not HTTP", "hello\r\n\r\n", 400, "ERR_BAD_REQUEST"],
  [
    "Content-Length beside Transfer-Encoding",
    "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    400,
    "ERR_BAD_REQUEST",
  ],
  [
    "two lengths",
    "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 4\r\nContent-Length: 5\r\n\r\nabcde",
    400,
    "ERR_BAD_REQUEST",
  ],
  [
    "TRACE, which would repeat credentials,",
    "TRACE / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n",
    405,
    "ERR_METHOD_NOT_ALLOWED",
  ],
];
for (const [what, text, status, code] of refused) {
  Deno.test(`HttpsEdge refuses ${what} with ${status}`, async () => {
    await withEdge({}, async (port, seen) => {
      const reply = await send(port, text);
      assert.match(reply, new RegExp(`^HTTP/1.1 ${status} `));
      const { code: found, requestId } = JSON.parse(reply.slice(reply.indexOf("\r\n\r\n")));
      assert.equal(found, code);
      assert.match(requestId, /^[0-9a-f-]{36}$/);
      assert.equal(seen.length, 0);
    });
  });
}

Deno.test("HttpsEdge closes a connection that never starts TLS", async () => {
  await withEdge({ limits: { handshakeMs: 100 } }, async (port) => {
    const socket = connectTcp(port, "127.0.0.1");
    socket.resume();
    await inTime(once(socket, "close"), "the end of the connection");
  });
});

Deno.test("HttpsEdge closes a connection whose header never ends", async () => {
  await withEdge({ limits: { headersMs: 100 } }, async (port, seen) => {
    const socket = await openTls(port);
    socket.write("GET / HTTP/1.1\r\nHost: h\r\n");
    assert.match(await readAll(socket), /^HTTP\/1.1 4\d\d |^$/);
    assert.equal(seen.length, 0);
  });
});

/** Returns a handler that reads the body of each request within a time limit, as resources do. */
const reading = (withinMs?: number): Handler => async (request) => {
  await readJson(request, withinMs);
  return { status: 200, headers: new HeaderList(["Content-Length", "2"]), body: "ok" };
};

const tooLong: [string, string][] = [
  ["announced", "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 65537\r\n\r\n"],
  [
    "chunked",
    `POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n${
      `4000\r\n${"a".repeat(0x4000)}\r\n`.repeat(5)
    }`,
  ],
];
for (const [what, text] of tooLong) {
  Deno.test(`HttpsEdge answers 413 if the ${what} body is too large for its reader`, async () => {
    await withEdge({ answer: reading() }, async (port) => {
      const reply = await send(port, text);
      assert.match(reply, /^HTTP\/1.1 413 /);
      assert.match(reply, /ERR_BODY_TOO_LARGE/);
    });
  });
}

Deno.test("HttpsEdge answers 408 to a body that never ends", async () => {
  await withEdge({ answer: reading(100) }, async (port) => {
    assert.match(
      await send(port, "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 4\r\n\r\nbo"),
      /^HTTP\/1.1 408 /,
    );
  });
});

const drips: [string, string, string, Setting][] = [
  ["header", "GET / HTTP/1.1\r\nHost: h\r\nX: ", "a", { limits: { headersMs: 300 } }],
  [
    "body",
    "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 50000\r\n\r\n",
    "a",
    { answer: reading(300) },
  ],
  [
    "chunked body",
    "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n",
    "1\r\na\r\n",
    { answer: reading(300) },
  ],
];
for (const [what, begin, drop, setting] of drips) {
  Deno.test(`HttpsEdge closes the connection of a client that sends its ${what} byte by byte`, async () => {
    await withEdge(setting, async (port) => {
      const socket = await openTls(port);
      socket.write(begin);
      const drip = setInterval(() => socket.write(drop), 20);
      try {
        // On a busy machine the reset that answers later bytes may overtake the answer.
        const answer = await readAll(socket).catch((error: Error & { code?: string }) => {
          if (error.code !== "ECONNRESET" && error.code !== "EPIPE") throw error;
          return "";
        });
        assert.match(answer, /^HTTP\/1.1 4\d\d |^$/);
      } finally {
        clearInterval(drip);
      }
    });
  });
}

Deno.test("HttpsEdge closes the connection of a client that sends the method of a later request byte by byte", async () => {
  await withEdge({ limits: { headersMs: 200 } }, async (port) => {
    const socket = await openTls(port);
    socket.write("GET / HTTP/1.1\r\nHost: h\r\n\r\n");
    const drip = setInterval(() => socket.write("A"), 20);
    try {
      assert.match(await readAll(socket), /^HTTP\/1.1 200 [^]*HTTP\/1.1 408 /);
    } finally {
      clearInterval(drip);
    }
  });
});

Deno.test("HttpsEdge ends an idle kept-alive connection", async () => {
  await withEdge({ limits: { keepAliveMs: 100 } }, async (port) => {
    assert.match(await send(port, "GET / HTTP/1.1\r\nHost: h\r\n\r\n"), /^HTTP\/1.1 200 /);
  });
});

Deno.test("HttpsEdge does not treat a connection as idle while its answer is pending", async () => {
  const answer: Handler = async (request, signal) => {
    await new Promise((resolve) => setTimeout(resolve, 500));
    return await hello(request, signal);
  };
  await withEdge({ limits: { keepAliveMs: 50 }, answer }, async (port) => {
    assert.match(await send(port, "GET / HTTP/1.1\r\nHost: h\r\n\r\n"), /^HTTP\/1.1 200 /);
  });
});

Deno.test("HttpsEdge sends Keep-Alive with its timeout only on kept connections", async () => {
  const request = "GET / HTTP/1.1\r\nHost: h\r\n";
  await withEdge({ limits: { keepAliveMs: 1000 } }, async (port) => {
    const kept = await send(port, `${request}\r\n`);
    assert.match(kept, /\r\nKeep-Alive: timeout=1\r\n/);
    assert.match(kept, /\r\nConnection: keep-alive\r\n/i);
    const ended = await send(port, `${request}Connection: close\r\n\r\n`);
    assert.doesNotMatch(ended, /keep-alive/i);
    assert.match(ended, /\r\nConnection: close\r\n/i);
  });
});

Deno.test("HttpsEdge closes a TLS connection on which no request begins", async () => {
  await withEdge({ limits: { headersMs: 100 } }, async (port) => {
    await readAll(await openTls(port));
  });
});

Deno.test("HttpsEdge closes a connection without traffic while its answer is pending", async () => {
  const answer: Handler = (_request, signal) =>
    new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
  await withEdge({ limits: { silentMs: 100 }, answer }, async (port) => {
    assert.equal(await send(port, "GET / HTTP/1.1\r\nHost: h\r\n\r\n"), "");
  });
});

/** Opens a connection that reads from the network only on request, unlike `node:tls` on Deno. */
async function openQuiet(port: number): Promise<Deno.TlsConn> {
  const conn = await Deno.connectTls({ hostname: "localhost", port, caCerts: [authority.certificate] });
  await conn.handshake();
  return conn;
}

/** Writes the same bytes repeatedly until the peer closes the connection; gives up at 200 MB. */
async function writesUntilCut(conn: Deno.TlsConn, bytes: Uint8Array): Promise<boolean> {
  try {
    for (let sent = 0; sent < 200_000_000; sent += bytes.length) await conn.write(bytes);
    return false;
  } catch {
    return true;
  }
}

Deno.test("HttpsEdge closes the connection of a client that does not read its answer", async () => {
  const part = new Uint8Array(256 * 1024);
  let cancelled = () => {};
  const given = new Promise<void>((resolve) => cancelled = resolve);
  const body = new ReadableStream<Uint8Array>({
    pull: (controller) => controller.enqueue(part),
    cancel: () => cancelled(),
  });
  const answer: Handler = () => Promise.resolve({ status: 200, headers: new HeaderList(), body });
  await withEdge({ limits: { silentMs: 100 }, answer }, async (port) => {
    using conn = await openQuiet(port);
    await conn.write(new TextEncoder().encode("GET / HTTP/1.1\r\nHost: h\r\n\r\n"));
    await inTime(given, "the end of the answer");
  });
});

Deno.test("HttpsEdge stops reading from a client that sends requests without reading answers", async () => {
  const answer: Handler = () => new Promise(() => {});
  await withEdge({ limits: { silentMs: 300 }, answer }, async (port, seen) => {
    using conn = await openQuiet(port);
    const many = new TextEncoder().encode("GET / HTTP/1.1\r\nHost: h\r\n\r\n".repeat(100));
    assert(await writesUntilCut(conn, many));
    assert.equal(seen.length, 1);
  });
});

Deno.test("HttpsEdge answers pipelined requests", async () => {
  const headers = new HeaderList(["Content-Length", "2"]);
  const answer: Handler = ({ path }) => Promise.resolve({ status: 200, headers, body: path });
  await withEdge({ answer }, async (port) => {
    using conn = await openQuiet(port);
    for (let round = 0; round < 20; round++) {
      const requests = ["/a", "/b", "/c"].map((path) => `GET ${path} HTTP/1.1\r\nHost: h\r\n\r\n`).join("");
      await conn.write(new TextEncoder().encode(requests));
      let text = "";
      const reply = new Uint8Array(4096);
      while (!text.endsWith("/c")) {
        const length = await conn.read(reply);
        assert(length !== null, `the connection was cut in round ${round}`);
        text += new TextDecoder().decode(reply.subarray(0, length));
      }
    }
  });
});

Deno.test("HttpsEdge reads no more of an upload than its handler", async () => {
  let taken = 0;
  let release = () => {};
  const released = new Promise<void>((resolve) => release = resolve);
  const answer: Handler = async ({ body }) => {
    assert(body instanceof ReadableStream);
    await released;
    for await (const part of body) taken += part.length;
    return { status: 200, headers: new HeaderList(), body: "whole" };
  };
  await withEdge({ answer }, async (port) => {
    using conn = await openQuiet(port);
    const [size, part] = [64 * 1024 * 1024, new Uint8Array(64 * 1024)];
    await conn.write(new TextEncoder().encode(
      `PUT /rest/access/HPC/id HTTP/1.1\r\nHost: h\r\nContent-Length: ${size}\r\n\r\n`,
    ));
    let [sent, stuckAt] = [0, 0];
    const watch = setInterval(() => {
      if (sent === stuckAt) release();
      stuckAt = sent;
    }, 200);
    for (; sent < size; sent += part.length) await conn.write(part);
    clearInterval(watch);
    assert(stuckAt < size, "all of it was taken before any of it was read");
    const reply = new Uint8Array(1000);
    const length = await conn.read(reply) ?? 0;
    assert.match(new TextDecoder().decode(reply.subarray(0, length)), /^HTTP\/1.1 200 /);
    assert.equal(taken, size);
  });
});

Deno.test("HttpsEdge drains a refused upload for a while, then closes the connection", async () => {
  const answer: Handler = () => Promise.resolve({ status: 403, headers: new HeaderList(), body: "no" });
  await withEdge({ answer }, async (port) => {
    using conn = await openQuiet(port);
    await conn.write(new TextEncoder().encode(
      "PUT /rest/access/HPC/id HTTP/1.1\r\nHost: h\r\nContent-Length: 99999999999\r\n\r\n",
    ));
    const reply = new Uint8Array(1000);
    const length = await conn.read(reply) ?? 0;
    assert.match(new TextDecoder().decode(reply.subarray(0, length)), /^HTTP\/1.1 403 /);
    const before = performance.now();
    while (performance.now() - before < 10_000) {
      try {
        await conn.write(new Uint8Array(64 * 1024));
      } catch {
        return;
      }
    }
    assert.fail("it may send on for ever");
  });
});

Deno.test("HttpsEdge lets a client finish sending a refused upload, even one that then closes", async () => {
  const answer: Handler = () =>
    Promise.resolve({ status: 403, headers: new HeaderList(["Content-Length", "2"]), body: "no" });
  await withEdge({ answer }, async (port) => {
    for (const head of ["HTTP/1.1\r\nConnection: close", "HTTP/1.1\r\nConnection: keep-alive", "HTTP/1.0"]) {
      using conn = await openQuiet(port);
      const part = new Uint8Array(64 * 1024);
      await conn.write(new TextEncoder().encode(
        `PUT /rest/access/HPC/id ${head}\r\nHost: h\r\nContent-Length: ${64 * part.length}\r\n\r\n`,
      ));
      const reply = new Uint8Array(1000);
      let text = "";
      while (!text.endsWith("no")) {
        const length = await conn.read(reply) ?? 0;
        assert(length > 0, `${head}: cut off after ${JSON.stringify(text)}`);
        text += new TextDecoder().decode(reply.subarray(0, length));
      }
      assert.match(text, /^HTTP\/1.1 403 [^]*\r\nContent-Length: 2\r\n/);
      for (let i = 0; i < 64; i++) await conn.write(part);
      if (!head.endsWith("keep-alive")) assert.equal(await conn.read(reply), null, "a reset, not an end");
    }
  });
});

Deno.test("HttpsEdge drains the request body after an answer without a body, then serves the next request", async () => {
  const answer: Handler = () => Promise.resolve({ status: 204, headers: new HeaderList(), body: null });
  await withEdge({ answer }, async (port, seen) => {
    const body = "x".repeat(300_000);
    const text = await send(
      port,
      `PUT /a HTTP/1.1\r\nHost: h\r\nContent-Length: ${body.length}\r\n\r\n${body}` +
        "GET /b HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n",
    );
    assert.deepEqual(text.match(/HTTP\/1.1 \d+/g), ["HTTP/1.1 204", "HTTP/1.1 204"]);
    assert.deepEqual(seen.map(({ path }) => path), ["/a", "/b"]);
  });
});

Deno.test("HttpsEdge keeps the connection of a client that reads its answer slowly", async () => {
  const parts = 20;
  let sent = 0;
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      await new Promise((resolve) => setTimeout(resolve, 50));
      if (sent++ === parts) controller.close();
      else controller.enqueue(new Uint8Array([97]));
    },
  });
  const answer: Handler = () => Promise.resolve({ status: 200, headers: new HeaderList(), body });
  await withEdge({ limits: { silentMs: 300 }, answer }, async (port) => {
    const reply = await send(port, "GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");
    assert.match(reply, /0\r\n\r\n$/);
  });
});

Deno.test("HttpsEdge accepts no more connections than configured", async () => {
  await withEdge({ maxConnections: 1 }, async (port) => {
    const first = await openTls(port);
    await assert.rejects(openTls(port));
    first.destroy();
  });
});

/** Returns a ClientHello (RFC 5246, 7.4.1.2) that offers one version and one cipher suite. */
function clientHello(version: number, suite: number): Uint8Array {
  const body = [
    ...[version >> 8, version & 255],
    ...crypto.getRandomValues(new Uint8Array(32)),
    ...[0, 0, 2, suite >> 8, suite & 255, 1, 0],
    // supported_groups: secp256r1; signature_algorithms: ecdsa_secp256r1_sha256, ecdsa_sha1
    ...[0, 18, 0, 10, 0, 4, 0, 2, 0, 23, 0, 13, 0, 6, 0, 4, 4, 3, 2, 3],
  ];
  return new Uint8Array([22, 3, 1, 0, body.length + 4, 1, 0, 0, body.length, ...body]);
}

const ALERT = 21;
const HANDSHAKE = 22;
const AES128 = 0xc02b;
const hellos: [string, number, number, number, Partial<EdgeTls>?][] = [
  ["refuses TLS 1.0", 0x0301, 0xc009, ALERT],
  ["refuses TLS 1.1", 0x0302, 0xc009, ALERT],
  ["refuses TLS 1.2 with CBC", 0x0303, 0xc023, ALERT],
  ["refuses TLS 1.2 without forward secrecy", 0x0303, 0x009c, ALERT],
  ["accepts TLS 1.2 with ECDHE and AES-GCM", 0x0303, AES128, HANDSHAKE],
  ["refuses TLS 1.2 where it is disabled", 0x0303, AES128, ALERT, { minVersion: "TLSv1.3" }],
];
for (const [what, version, suite, reply, offered] of hellos) {
  Deno.test(`HttpsEdge ${what}`, async () => {
    await withEdge({ tls: offered }, async (port) => {
      const socket = connectTcp(port, "127.0.0.1");
      socket.write(clientHello(version, suite));
      const [bytes] = await once(socket, "data");
      assert.equal(bytes[0], reply);
      socket.destroy();
    });
  });
}

Deno.test("HttpsEdge presents a renewed certificate to new connections, and keeps existing ones", async () => {
  const limits = { ...LIMITS, checkMs: 50 };
  const edge = await HttpsEdge.start(
    { address: "127.0.0.1", port: 0, tls, maxConnections: 0, limits },
    partsWith(hello),
  );
  const before = await openTls(edge.port);
  edge.renewTls({ ...tls, ...authority.issue({ subject: "CN=renewed" }) });
  const after = await openTls(edge.port);
  assert.equal(before.getPeerCertificate().subject.CN, "localhost");
  assert.equal(after.getPeerCertificate().subject.CN, "renewed");
  before.write("GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");
  assert.match(await readAll(before), /^HTTP\/1.1 200 /);
  after.destroy();
  await edge.drain(100);
});

Deno.test("HttpsEdge speaks HTTP/1.0 with a client that offers nothing else in its TLS handshake, as curl -0", async () => {
  await withEdge({}, async (port) => {
    for (
      const [offered, chosen] of [[["http/1.0"], "http/1.0"], [
        ["h2", "http/1.0", "http/1.1"],
        "http/1.1",
      ]] as const
    ) {
      const socket = await openTls(port, { ALPNProtocols: [...offered] });
      assert.equal(socket.alpnProtocol, chosen);
      socket.write("GET / HTTP/1.0\r\n\r\n");
      assert.match(await readAll(socket), /^HTTP\/1.1 200 /);
    }
  });
});

Deno.test("HttpsEdge.drain() lets a request under way finish, and accepts no new connection", async () => {
  let release = () => {};
  const released = new Promise<void>((resolve) => release = resolve);
  let arrived = () => {};
  const arriving = new Promise<void>((resolve) => arrived = resolve);
  const answer: Handler = async () => {
    arrived();
    await released;
    return { status: 200, headers: new HeaderList(), body: "done" };
  };
  const limits = { ...LIMITS, checkMs: 50 };
  const edge = await HttpsEdge.start(
    { address: "127.0.0.1", port: 0, tls, maxConnections: 0, limits },
    partsWith(answer),
  );
  const port = edge.port;
  const reply = send(port, "GET / HTTP/1.1\r\nHost: h\r\n\r\n");
  await arriving;
  const drained = edge.drain(3_600_000);
  await assert.rejects(openTls(port));
  release();
  assert.match(await reply, /done/);
  await drained;
});

Deno.test("HttpsEdge aborts the signal when the client leaves", async () => {
  let gone = () => {};
  const noticed = new Promise<void>((resolve) => gone = resolve);
  const answer: Handler = (_request, signal) =>
    new Promise((_resolve, reject) =>
      signal.addEventListener("abort", () => {
        gone();
        reject(signal.reason);
      })
    );
  await withEdge({ answer }, async (port, seen) => {
    const socket = await openTls(port);
    socket.write("GET / HTTP/1.1\r\nHost: h\r\n\r\n");
    await until(() => seen.length > 0, { everyMs: 0 });
    socket.destroy();
    await inTime(noticed, "the signal");
  });
});

Deno.test("HttpsEdge sends the last bytes of a stream with its end, so that no request comes in between", async () => {
  const { promise: over, resolve: end } = Promise.withResolvers<void>();
  const headers = new HeaderList(["Content-Length", "60000"]);
  const answer: Handler = () => {
    const body = new ReadableStream<Uint8Array>({
      async start(controller) {
        controller.enqueue(new Uint8Array(20_000).fill(97));
        controller.enqueue(new Uint8Array(40_000).fill(98));
        controller.enqueue(new Uint8Array());
        await over;
        controller.close();
      },
    });
    return Promise.resolve({ status: 200, headers, body });
  };
  await withEdge({ answer }, async (port) => {
    const socket = await openTls(port);
    let text = "";
    socket.on("data", (bytes: Uint8Array) => text += new TextDecoder().decode(bytes));
    socket.write("GET / HTTP/1.1\r\nHost: h\r\n\r\n");
    await until(() => text.includes("a".repeat(20_000)));
    await new Promise((resolve) => setTimeout(resolve, 50));
    const isEarly = text.endsWith("b");
    end();
    await until(() => text.endsWith(`${"a".repeat(20_000)}${"b".repeat(40_000)}`));
    socket.destroy();
    assert.ok(!isEarly);
  });
});

Deno.test("HttpsEdge aborts the signal of a client that leaves before the last byte, but not after it", async () => {
  for (const [announced, aborted] of [[6, true], [5, false]] as const) {
    const ended = Promise.withResolvers<void>();
    const signals: AbortSignal[] = [];
    const answer: Handler = (_request, signal) => {
      signals.push(signal);
      const body = new ReadableStream<Uint8Array>({
        start(controller) {
          controller.enqueue(new TextEncoder().encode("12345"));
          if (!aborted) controller.close(); // the last byte is sent with the end
        },
        cancel: () => ended.resolve(),
      });
      signal.addEventListener("abort", () => ended.resolve());
      return Promise.resolve({
        status: 200,
        headers: new HeaderList(["Content-Length", String(announced)]),
        body,
      });
    };
    await withEdge({ answer }, async (port) => {
      const socket = await openTls(port);
      socket.write("GET / HTTP/1.1\r\nHost: h\r\n\r\n");
      let text = "";
      socket.on("data", (part) => text += String(part));
      await until(() => text.endsWith("12345"));
      socket.destroy();
      if (aborted) await inTime(ended.promise, "the end");
    });
    assert.deepEqual(signals.map((signal) => signal.aborted), [aborted]);
  }
});

Deno.test("HttpsEdge answers 500 without the cause when an answer fails", async () => {
  await withEdge({ answer: () => Promise.reject(new Error("secret detail")) }, async (port) => {
    const reply = await send(port, "GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");
    assert.match(reply, /^HTTP\/1.1 500 /);
    assert.doesNotMatch(reply, /secret/);
  });
});

const PASSED_OVER: readonly (readonly [what: string, client: Credential, reason: string])[] = [
  ["an authority", other, "it is an authority's (CA:TRUE), expected CA:FALSE"],
  [
    "an expired client",
    authority.issue({ subject, notAfter: past }),
    "it has expired, or is not valid yet",
  ],
  ["an unknown client", other.issue({ subject }), "no trusted authority is known to have issued it"],
];
for (const [what, client, reason] of PASSED_OVER) {
  Deno.test(`HttpsEdge logs why it ignores the certificate of ${what}`, async () => {
    const lines: string[] = [];
    const options = {
      address: "127.0.0.1",
      port: 0,
      tls: { ...tls, anchors, clientCertificate: "requested" },
      maxConnections: 0,
      limits: LIMITS,
    } as const;
    const edge = await HttpsEdge.start(options, {
      ...partsWith(hello),
      log: createLogger((line) => lines.push(line)),
    });
    try {
      const socket = await openTls(edge.port, { cert: client.certificate, key: client.key });
      socket.write(GET);
      await readAll(socket);
    } catch {
      // The edge may also close the connection.
    } finally {
      await edge.drain(100);
    }
    assert.ok(
      lines.some((line) =>
        line.includes("client certificate passed over") && line.includes(`reason="${reason}"`)
      ),
      lines.join("\n"),
    );
  });
}
