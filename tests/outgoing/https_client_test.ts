import assert from "node:assert/strict";
import { inTime, until } from "../fixtures/deadline.ts";
import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { rootCertificates } from "node:tls";
import { gzipSync } from "node:zlib";
import { createLogger, SILENT } from "../../src/logging/logger.ts";
import type { OutgoingConfig } from "../../src/config/service_config.ts";
import { HttpsClient } from "../../src/outgoing/https_client.ts";
import { RemoteUnavailable } from "../../src/outgoing/remote_unavailable.ts";
import { type Answer, startHttpsServer } from "../identity_provider/https_server.ts";
import { createAuthority } from "../pki/authority.ts";

const authority = createAuthority({ subject: "CN=Test CA,O=Site-A" });
const good = authority.issue({ subject: "CN=idp", names: ["localhost", "127.0.0.1"] });
const trust = { anchors: [authority.certificate] };
const defaults: OutgoingConfig = {
  publicRoots: false,
  showCertificate: false,
  hostnameChecking: "FAIL",
  connectTimeoutMs: 10_000,
  timeoutMs: 20_000,
  maxConnectionsPerHost: 6,
  maxConnections: 20,
  idleTimeoutMs: 30_000,
};
const never = new AbortController().signal;

/** Sends one request to a server with this answer. */
async function ask(
  answer: Answer,
  {
    credential = good,
    options = {},
    anchors = trust.anchors,
    publicRoots = undefined as readonly string[] | undefined,
    signal = never,
    log = SILENT,
    body = undefined as string | undefined,
  } = {},
) {
  await using server = await startHttpsServer(credential, answer);
  const client = new HttpsClient({ ...defaults, ...options }, { anchors, publicRoots }, log);
  try {
    const method = body === undefined ? "GET" : "POST";
    return await client.send({ method, url: `${server.origin}/userinfo?x=1`, body }, signal);
  } finally {
    client.close();
  }
}

/** Writes an endless answer on a connection, up to a bound of a hundred megabytes. */
function flood(socket: Socket | null, begin: string, part: string, status = "200 OK"): void {
  assert(socket);
  socket.write(`HTTP/1.1 ${status}\r\n${begin}`);
  let bytes = 0;
  const go = () => {
    while (!socket.destroyed && bytes < 100_000_000 && socket.write(part)) bytes += part.length;
  };
  socket.on("error", () => {}).on("drain", go);
  go();
}

const hello: Answer = (_request, response) => response.end("hello");

Deno.test("HttpsClient returns status, headers and body for any status", async () => {
  for (const status of [200, 204, 302, 404, 500]) {
    const answer = await ask((_request, response) => {
      response.writeHead(status, { "X-Test": "yes", Location: "https://elsewhere.example/" }).end(
        status === 204 ? "" : "grüezi",
      );
    });
    assert.equal(answer.status, status);
    assert.equal(answer.headers["x-test"], "yes");
    assert.equal(answer.body, status === 204 ? "" : "grüezi");
  }
});

Deno.test("HttpsClient sends method, path, headers and body as given", async () => {
  await using server = await startHttpsServer(good, hello);
  const client = new HttpsClient(defaults, trust, SILENT);
  const headers = { "Content-Type": "text/plain", Authorization: "Bearer abc" };
  await client.send({ method: "POST", url: `${server.origin}/a?b=c`, headers, body: "Grüße" }, never);
  client.close();
  const seen = server.seen[0];
  assert.equal(seen?.method, "POST");
  assert.equal(seen?.path, "/a?b=c");
  assert.equal(seen?.body, "Grüße");
  assert.equal(seen?.headers["authorization"], "Bearer abc");
  assert.equal(seen?.headers["content-length"], "7");
});

Deno.test("HttpsClient reaches systems without TLS and without anchors if the address says so", async () => {
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: () => {} },
    async (request) => new Response(`${request.method} ${await request.text()}`, { status: 201 }),
  );
  const client = new HttpsClient(defaults, { anchors: [] }, SILENT);
  const url = `http://127.0.0.1:${server.addr.port}/userinfo`;
  for (const body of ["first", "second"]) {
    const answer = await client.send({ method: "POST", url, body }, never);
    assert.deepEqual([answer.status, answer.body], [201, `POST ${body}`]);
  }
  client.close();
  await server.shutdown();
  await assert.rejects(
    new HttpsClient(defaults, { anchors: [] }, SILENT).send({ method: "GET", url }, never),
    (error) => error instanceof RemoteUnavailable && !error.connected,
  );
});

Deno.test("HttpsClient keeps connections, and retries once if a kept one is closed", async () => {
  await using server = await startHttpsServer(good, hello);
  const client = new HttpsClient(defaults, trust, SILENT);
  const url = `${server.origin}/`;
  for (let round = 0; round < 3; round++) {
    assert.equal((await client.send({ method: "GET", url }, never)).status, 200);
  }
  assert.equal(server.connections, 1);
  server.cut();
  assert.equal((await client.send({ method: "GET", url }, never)).status, 200);
  client.close();
});

Deno.test("HttpsClient opens no more connections than allowed", async () => {
  await using server = await startHttpsServer(good, hello);
  const client = new HttpsClient({ ...defaults, maxConnectionsPerHost: 2 }, trust, SILENT);
  const all = Array.from({ length: 20 }, () => client.send({ method: "GET", url: server.origin }, never));
  for (const answer of await Promise.all(all)) assert.equal(answer.body, "hello");
  assert.ok(server.connections <= 2, `${server.connections} connections`);
  client.close();
});

const withName = (...names: string[]) => authority.issue({ subject: "CN=localhost", names });
const untrusted: [string, Parameters<typeof ask>[1]][] = [
  ["of an unknown authority", {
    credential: createAuthority({ subject: "CN=Other" }).issue({ subject: "CN=x", names: ["localhost"] }),
  }],
  ["of an impostor of our authority", {
    credential: authority.impostor().issue({ subject: "CN=x", names: ["localhost"] }),
  }],
  ["for another host", { credential: withName("other.example") }],
  ["that is expired", {
    credential: authority.issue({ subject: "CN=x", names: ["localhost"], notAfter: new Date("2021-01-01") }),
  }],
  ["that is not valid yet", {
    credential: authority.issue({ subject: "CN=x", names: ["localhost"], notBefore: new Date("2048-01-01") }),
  }],
  ["of version 1", { credential: authority.issue({ subject: "CN=localhost", version: 1 }) }],
  ["of version 1 that is forged", {
    credential: authority.impostor().issue({ subject: "CN=localhost", version: 1 }),
  }],
  ["of version 1 that is forged, unchecked host", {
    credential: authority.impostor().issue({ subject: "CN=localhost", version: 1 }),
    options: { hostnameChecking: "NONE" },
  }],
  ["of our authority, if only the public roots are trusted", { anchors: [], publicRoots: rootCertificates }],
  ["of our authority, without trusted authorities", { anchors: [] }],
  ["for clients only", {
    credential: authority.issue({ subject: "CN=x", names: ["localhost"], extendedKeyUsage: ["clientAuth"] }),
  }],
];
for (const [what, how] of untrusted) {
  Deno.test(`HttpsClient refuses a certificate ${what}`, async () => {
    await assert.rejects(ask(hello, how), RemoteUnavailable);
  });
}

const alone = (ca: boolean, names = ["localhost"]) => createAuthority({ subject: "CN=idp", ca, names });

const wrongs: readonly (readonly [what: string, Parameters<typeof ask>[1], RegExp])[] = [
  ["expired", {
    credential: authority.issue({ subject: "CN=x", names: ["localhost"], notAfter: new Date("2021-01-01") }),
  }, /certificate of the server has expired/],
  ["not valid yet", {
    credential: authority.issue({ subject: "CN=x", names: ["localhost"], notBefore: new Date("2048-01-01") }),
  }, /certificate of the server is not valid yet/],
  ["for another purpose", {
    credential: authority.issue({ subject: "CN=x", names: ["localhost"], extendedKeyUsage: ["clientAuth"] }),
  }, /certificate of the server is not for TLS servers/],
  ["for another name", { credential: withName("other.example") }, /is for another host .*other\.example/],
  ["of an unknown authority", {
    credential: createAuthority({ subject: "CN=Other" }).issue({ subject: "CN=x", names: ["localhost"] }),
  }, /no trusted authority signed the certificate of the server/],
  ["of an impostor", {
    credential: authority.impostor().issue({ subject: "CN=x", names: ["localhost"] }),
  }, /does not have the key of its certificate, or it is forged/],
];
for (const [what, how, reason] of wrongs) {
  Deno.test(`HttpsClient reports that a certificate is ${what}`, async () => {
    for (const anchors of [trust.anchors, [...trust.anchors, alone(false).certificate]]) {
      await assert.rejects(ask(hello, { ...how, anchors }), (error) => {
        assert.ok(error instanceof RemoteUnavailable);
        assert.match(error.reason, reason);
        return true;
      });
    }
  });
}

Deno.test("HttpsClient does not request compression, but accepts gzip", async () => {
  const seen: unknown[] = [];
  for (const coding of ["gzip", "x-gzip", "GZIP"]) {
    const { body } = await ask((request, response) => {
      seen.push(request.headers["accept-encoding"]);
      response.writeHead(200, { "Content-Encoding": coding }).end(gzipSync("grüezi"));
    });
    assert.equal(body, "grüezi");
  }
  assert.deepEqual(seen, ["identity", "identity", "identity"]);
});

Deno.test("HttpsClient accepts a trusted self-signed certificate, marked as an authority or not", async () => {
  for (const ca of [true, false]) {
    for (const anchors of [[], trust.anchors]) {
      const credential = alone(ca);
      const trusted = [...anchors, credential.certificate];
      assert.equal((await ask(hello, { credential, anchors: trusted, body: "x" })).body, "hello");
      await assert.rejects(ask(hello, { credential, anchors }), RemoteUnavailable);
      await assert.rejects(ask(hello, { credential: alone(ca), anchors: trusted }), RemoteUnavailable);
    }
  }
});

Deno.test("HttpsClient accepts a server's RSA key of 5120 bits, which TLS can verify", async () => {
  const file = new URL("../model/fixtures/rsa_5120_host.", import.meta.url).pathname;
  const [certificate, key] = [await Deno.readTextFile(`${file}pem`), await Deno.readTextFile(`${file}key`)];
  const credential = { certificate, key };
  assert.equal((await ask(hello, { credential, anchors: [certificate], body: "x" })).body, "hello");
  await assert.rejects(ask(hello, { credential }), RemoteUnavailable);
});

Deno.test("HttpsClient checks name, dates and purpose of a certificate that is itself trusted", async () => {
  const names = ["localhost"];
  const wrong = [
    alone(false, ["other.example"]),
    createAuthority({ subject: "CN=x", ca: false, names, notAfter: new Date("2021-01-01") }),
    createAuthority({ subject: "CN=x", ca: false, names, extendedKeyUsage: ["clientAuth"] }),
    createAuthority({ subject: "CN=localhost", version: 1 }),
  ];
  for (const credential of wrong) {
    await assert.rejects(ask(hello, { credential, anchors: [credential.certificate] }), RemoteUnavailable);
  }
});

Deno.test("HttpsClient refuses certificates issued by a trusted end entity", async () => {
  const end = createAuthority({ subject: "CN=Daemon", ca: false });
  const credential = end.issue({ subject: "CN=idp", names: ["localhost"] });
  for (const anchors of [[end.certificate], [end.certificate, authority.certificate]]) {
    await assert.rejects(ask(hello, { credential, anchors }), RemoteUnavailable);
  }
});

Deno.test("HttpsClient trusts our anchors besides the public roots if configured", async () => {
  assert.equal((await ask(hello, { publicRoots: rootCertificates })).status, 200);
});

Deno.test("HttpsClient warns about a wrong host name with WARN, and about the setting NONE", async () => {
  const lines: string[] = [];
  const log = createLogger((line) => lines.push(line));
  const credential = withName("other.example");
  assert.equal((await ask(hello, { credential, log, options: { hostnameChecking: "WARN" } })).status, 200);
  assert.match(lines.join("\n"), /warn .*does not name the host.*host=localhost/);
  assert.doesNotMatch(lines.join("\n"), /NOT CHECKED/);
  lines.length = 0;
  assert.equal((await ask(hello, { log, options: { hostnameChecking: "FAIL" } })).status, 200);
  assert.deepEqual(lines, []);
  assert.equal((await ask(hello, { credential, log, options: { hostnameChecking: "NONE" } })).status, 200);
  assert.match(lines.join("\n"), /NOT CHECKED/);
});

Deno.test("HttpsClient sends its client certificate if it has one", async () => {
  const own = authority.issue({ subject: "CN=AUTH" });
  await using server = await startHttpsServer(good, hello, authority.certificate);
  for (const clientCertificate of [own, undefined]) {
    const client = new HttpsClient(defaults, { ...trust, clientCertificate }, SILENT);
    await client.send({ method: "GET", url: server.origin }, never);
    client.close();
  }
  assert.deepEqual(server.seen.map((request) => request.withCertificate), [true, false]);
});

const faults: [string, Answer, Partial<OutgoingConfig>, RegExp][] = [
  ["that sends nothing", () => {}, { timeoutMs: 200 }, /no complete answer within 200 ms/],
  [
    "that stalls during an answer",
    (_request, response) => void response.writeHead(200, { "Content-Length": 9 }).write("half"),
    { timeoutMs: 200 },
    /within 200 ms/,
  ],
  [
    "that closes during an answer",
    (_request, response) => {
      response.writeHead(200, { "Content-Length": 9 });
      response.write("half", () => response.destroy());
    },
    {},
    /no answer/,
  ],
  [
    "that ends during an answer",
    (_request, { socket }) => void socket?.end("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf"),
    {},
    /no answer/,
  ],
  [
    "that ends during a chunk",
    (_request, { socket }) =>
      void socket?.end("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\nhalf"),
    {},
    /no answer/,
  ],
  ["that closes at once", (_request, response) => void response.destroy(), {}, /no answer/],
  [
    "that sends too much",
    (_request, response) => void response.end("x".repeat(1024 * 1024 + 1)),
    {},
    /no answer/,
  ],
  [
    "that sends invalid UTF-8",
    (_request, response) => void response.end(Uint8Array.of(0xff, 0xfe)),
    {},
    /no answer/,
  ],
  [
    "that sends a decompression bomb",
    (_request, response) =>
      void response.writeHead(200, { "Content-Encoding": "gzip" }).end(
        gzipSync(new Uint8Array(64 * 1024 ** 2)),
      ),
    {},
    /no answer/,
  ],
  [
    "that sends endless chunk extensions",
    (_request, response) => flood(response.socket, "Transfer-Encoding: chunked\r\n\r\n1;", "a".repeat(65536)),
    {},
    /no answer/,
  ],
  [
    "that sends endless interim answers",
    (_request, response) =>
      flood(response.socket, "\r\n", "HTTP/1.1 103 Early Hints\r\n\r\n".repeat(2000), "103 Early Hints"),
    {},
    /no answer/,
  ],
  [
    "that sends an endless head",
    (_request, response) => flood(response.socket, "X: ", "a".repeat(65536)),
    {},
    /no answer/,
  ],
  [
    "that sends truncated gzip",
    (_request, response) =>
      void response.writeHead(200, { "Content-Encoding": "gzip" }).end(
        gzipSync("{}".repeat(99)).subarray(0, 20),
      ),
    {},
    /no answer/,
  ],
  [
    "that sends another coding",
    (_request, response) => void response.writeHead(200, { "Content-Encoding": "br" }).end("x"),
    {},
    /no answer/,
  ],
  [
    "that sends invalid gzip",
    (_request, response) => void response.writeHead(200, { "Content-Encoding": "gzip" }).end("x"),
    {},
    /no answer/,
  ],
];
for (const [what, answer, options, reason] of faults) {
  Deno.test(`HttpsClient refuses answers of a server ${what}`, async () => {
    await assert.rejects(inTime(ask(answer, { options }), "an error"), (error) => {
      assert.ok(error instanceof RemoteUnavailable);
      assert.match(error.message, reason);
      assert.equal(error.status, 503);
      assert.equal(error.headers["Retry-After"], "10");
      assert.doesNotMatch(error.publicMessage, /localhost/);
      return true;
    });
  });
}

/** Returns an answer in chunks of one byte, with chunk extensions of `bytes` in total (RFC 9112, 7.1.1). */
function extended(bytes: number): Answer {
  return (_request, { socket }) => {
    assert(socket);
    socket.on("error", () => {});
    socket.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
    // Sends short extensions: the client refuses a single long one.
    for (let sent = 0; sent < bytes; sent += 8192) socket.write(`1;${"a".repeat(8186)}\r\nx\r\n`);
    socket.write("0\r\n\r\n");
  };
}

Deno.test("HttpsClient reads at most two megabytes besides the body of an answer", async () => {
  const { body } = await ask(extended(1_900_000));
  assert.match(body, /^x+$/);
  await assert.rejects(ask(extended(2_300_000)), RemoteUnavailable);
});

Deno.test("HttpsClient accepts a body of exactly the allowed length", async () => {
  const answer: Answer = (_request, response) => response.end("x".repeat(1024 * 1024));
  assert.equal((await ask(answer)).body.length, 1024 * 1024);
});

const lone = alone(false);

for (
  const [what, credential, anchor, left] of [
    ["by an authority", good, authority.certificate, 1], // the runtime does not end the first handshake
    ["as itself", lone, lone.certificate, 0],
  ] as const
) {
  Deno.test(`HttpsClient aborts endless TLS handshakes, with their connections, to servers trusted ${what}`, async () => {
    await using server = await startHttpsServer(credential, hello);
    const sockets: Socket[] = [];
    let mute = true;
    const listener = createServer((socket) => {
      sockets.push(socket.on("error", () => {}));
      if (mute) return socket.resume();
      socket.pipe(connect(Number(new URL(server.origin).port), "127.0.0.1")).pipe(socket);
    }).listen(0, "127.0.0.1");
    await once(listener, "listening");
    const address = listener.address();
    assert.ok(address !== null && typeof address === "object");
    const client = new HttpsClient({ ...defaults, connectTimeoutMs: 150 }, { anchors: [anchor] }, SILENT);
    const send = () => client.send({ method: "GET", url: `https://localhost:${address.port}/` }, never);
    for (let attempt = 0; attempt < 3; attempt++) {
      await assert.rejects(send(), (error) => {
        assert.ok(error instanceof RemoteUnavailable && error.cause instanceof Error);
        assert.match(error.cause.message, /no connection within 150 ms/);
        return true;
      });
    }
    const open = () => sockets.filter(({ destroyed }) => !destroyed).length;
    await until(() => sockets.length === 3 && open() === left);
    mute = false;
    await until(() => send().then(({ body }) => body === "hello", () => false));
    client.close();
    sockets.forEach((socket) => socket.destroy());
    listener.close();
    await once(listener, "close");
  });
}

Deno.test("HttpsClient stops when its caller leaves", async () => {
  const controller = new AbortController();
  const asked = ask(() => controller.abort(), { signal: controller.signal });
  await assert.rejects(asked, /given up by the caller/);
  await assert.rejects(ask(hello, { signal: AbortSignal.abort() }), /given up by the caller/);
});

Deno.test("HttpsClient reports a refused connection", async () => {
  const server = await startHttpsServer(good, hello);
  await server[Symbol.asyncDispose]();
  const client = new HttpsClient(defaults, trust, SILENT);
  await assert.rejects(client.send({ method: "GET", url: server.origin }, never), RemoteUnavailable);
  client.close();
});

Deno.test("HttpsClient calls only https addresses", async () => {
  const client = new HttpsClient(defaults, trust, SILENT);
  for (const url of ["http://localhost/", "file:///etc/passwd", "", "idp.example", "data:,x"]) {
    await assert.rejects(client.send({ method: "GET", url }, never), RemoteUnavailable, url);
  }
  client.close();
});

Deno.test("HttpsClient closes kept connections that stay idle", async () => {
  await using server = await startHttpsServer(good, hello);
  const client = new HttpsClient({ ...defaults, idleTimeoutMs: 100 }, trust, SILENT);
  await client.send({ method: "GET", url: server.origin }, never);
  await server.idle();
  client.close();
});

Deno.test("HttpsClient uses new trust anchors after renew()", async () => {
  await using server = await startHttpsServer(good, hello);
  const client = new HttpsClient(defaults, { anchors: [] }, SILENT);
  await assert.rejects(client.send({ method: "GET", url: server.origin }, never), /no trust anchors/);
  client.renew(trust);
  assert.equal((await client.send({ method: "GET", url: server.origin }, never)).status, 200);
  client.renew({ anchors: [createAuthority({ subject: "CN=Other" }).certificate] });
  await assert.rejects(client.send({ method: "GET", url: server.origin }, never), RemoteUnavailable);
  client.close();
});

Deno.test("HttpsClient gives up on a server that falls silent on a kept connection", async () => {
  let silent = false;
  const answer: Answer = (_request, response) => void (silent || response.end("hello"));
  await using server = await startHttpsServer(good, answer);
  const client = new HttpsClient({ ...defaults, timeoutMs: 200 }, trust, SILENT);
  await client.send({ method: "GET", url: server.origin }, never);
  silent = true;
  const asked = client.send({ method: "GET", url: server.origin }, never);
  await assert.rejects(inTime(asked, "the end of waiting"), /within 200 ms/);
  await server.idle();
  client.close();
});

Deno.test("HttpsClient leaves no connection open to a server without TLS", async () => {
  const plain = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const accepted = plain.accept();
  const client = new HttpsClient(defaults, trust, SILENT);
  const asked = client.send({ method: "GET", url: `https://127.0.0.1:${plain.addr.port}/` }, never);
  const connection = await accepted;
  const rest = new Uint8Array(1000);
  await connection.read(rest);
  await connection.write(new TextEncoder().encode("HTTP/1.1 400 Bad Request\r\n\r\n"));
  await assert.rejects(asked, RemoteUnavailable);
  while (await connection.read(rest) !== null); // ends because the client closes its side
  connection.close();
  plain.close();
  client.close();
});
