/** Tests one request after the other, and bodies on demand, with bytes in any pieces (RFC 9112, 9.3.2). */
import { inTime, until } from "../fixtures/deadline.ts";
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import { connect } from "node:net";
import fc from "fast-check";
import { LIMITS } from "../../src/edge/edge_options.ts";
import { HttpsEdge } from "../../src/edge/https_edge.ts";
import { RequestGate } from "../../src/edge/request_gate.ts";
import { type Handler, HeaderList } from "../../src/model/http_message.ts";
import { createAuthority } from "../pki/authority.ts";
import { partsWith } from "./edge_parts.ts";
import { openTls } from "./tls_client.ts";

const credential = createAuthority({ subject: "CN=Test CA" }).issue({ subject: "CN=localhost" });
const tls = {
  ...credential,
  anchors: [],
  clientCertificate: "none",
  minVersion: "TLSv1.2",
  maxVersion: "TLSv1.3",
} as const;

/** Runs a test against an edge with TLS and one without: bytes reach the parser in different ways. */
function testEdges(what: string, answer: () => Handler, test: (open: Open) => Promise<void>) {
  for (const offered of [{ tls }, {}]) {
    Deno.test(`${what}, ${"tls" in offered ? "with" : "without"} TLS`, async () => {
      const options = { address: "127.0.0.1", port: 0, maxConnections: 0, limits: LIMITS, ...offered };
      const edge = await HttpsEdge.start(options, partsWith(answer()));
      try {
        await test("tls" in offered ? () => openTls(edge.port) : () => openTcp(edge.port));
      } finally {
        await edge.drain(100);
      }
    });
  }
}

type Open = () => Promise<Connection>;
type Connection = Awaited<ReturnType<typeof openTcp>>;

async function openTcp(port: number) {
  const socket = connect(port, "127.0.0.1");
  await once(socket, "connect");
  return socket;
}

/** Sends each part in its own turn of the event loop, and reads until the reply is enough or the edge closes. */
async function talk(
  open: Open,
  parts: readonly (string | Uint8Array)[],
  enough: (reply: string) => boolean,
): Promise<string> {
  const socket = await open();
  let reply = "";
  const whole = new Promise<string>((resolve) => {
    socket.on("data", (part: Uint8Array) => {
      reply += new TextDecoder("latin1").decode(part);
      if (enough(reply)) resolve(reply);
    });
    socket.on("error", () => {}); // may end in a reset; the bytes before it are the reply
    socket.once("close", () => resolve(reply));
  });
  socket.setNoDelay(true);
  for (const part of parts) {
    socket.write(part);
    await new Promise((resolve) => setImmediate(resolve));
  }
  const result = await whole;
  socket.destroy();
  return result;
}

const count = (text: string, pattern: RegExp) => text.match(pattern)?.length ?? 0;

/** Returns a handler that answers with method, path and body, and records begin and end of each request. */
function recording(events: string[]): Handler {
  return async ({ method, path, body }) => {
    events.push(`begin ${method} ${path}`);
    const content = body === null
      ? ""
      : new TextDecoder().decode(body instanceof Uint8Array ? body : await new Response(body).bytes());
    for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve));
    events.push(`end ${method} ${path}`);
    const text = `<${method} ${path} ${content}>`;
    return { status: 200, headers: new HeaderList(["Content-Length", String(text.length)]), body: text };
  };
}

const events: string[] = [];
testEdges("pipelined requests run one after the other", () => recording(events), async (open) => {
  events.length = 0;
  const put = (n: number) => `PUT /x HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\n\r\n${n}`;
  const sent = `${put(1)}${put(2)}GET /x HTTP/1.1\r\nHost: h\r\n\r\n${
    put(3)
  }DELETE /x HTTP/1.1\r\nHost: h\r\n\r\n`;
  const reply = await talk(open, [sent], (text) => text.includes("<DELETE"));
  assert.deepEqual(reply.match(/<[^>]*>/g), [
    "<PUT /x 1>",
    "<PUT /x 2>",
    "<GET /x >",
    "<PUT /x 3>",
    "<DELETE /x >",
  ]);
  for (let i = 0; i < events.length; i += 2) {
    assert.equal(events[i]?.replace("begin", "end"), events[i + 1], events.join(", "));
  }
});

testEdges("a thousand pipelined requests are all answered", () => recording([]), async (open) => {
  const sent = Array.from({ length: 1000 }, (_, i) => `GET /${i} HTTP/1.1\r\nHost: h\r\n\r\n`).join("");
  const reply = await talk(open, [sent], (text) => text.includes("</999") || text.includes("<GET /999 >"));
  const targets = [...reply.matchAll(/<GET \/(\d+) >/g)].map(([, n]) => Number(n));
  assert.deepEqual(targets, Array.from({ length: 1000 }, (_, i) => i));
});

testEdges("bytes after a refused request are not read", () => recording(events), async (open) => {
  events.length = 0;
  const get = (target: string) => `GET ${target} HTTP/1.1\r\nHost: h\r\n\r\n`;
  const reply = await talk(
    open,
    [`${get("/a")}GET  /b HTTP/1.1\r\nHost: h\r\n\r\n${get("/c")}`],
    () => false,
  );
  assert.deepEqual(reply.match(/^HTTP\/1\.1 \d+/gm), ["HTTP/1.1 200"]);
  assert.match(reply, /<GET \/a >HTTP\/1\.1 400 /);
  assert.deepEqual(events, ["begin GET /a", "end GET /a"]);
});

const BODIES = ["", "x", "\r\n\r\n", "0\r\n\r\n", "GET /smuggled HTTP/1.1\r\n\r\n", "y".repeat(5000)];
const message = fc.record({
  body: fc.constantFrom(...BODIES),
  form: fc.constantFrom("none", "length", "chunked", "chunks of 3"),
});
type Message = typeof message extends fc.Arbitrary<infer T> ? T : never;

function written({ body, form }: Message, n: number): string {
  const head = (more: string) => `POST /${n} HTTP/1.1\r\nHost: h\r\n${more}\r\n`;
  if (form === "none") return head("");
  if (form === "length") return head(`Content-Length: ${body.length}\r\n`) + body;
  const size = form === "chunked" ? body.length || 1 : 3;
  let chunks = "";
  for (let at = 0; at < body.length; at += size) {
    const part = body.slice(at, at + size);
    chunks += `${part.length.toString(16)}\r\n${part}\r\n`;
  }
  return `${head("Transfer-Encoding: chunked\r\n")}${chunks}0\r\n\r\n`;
}

testEdges("requests are separated wherever the network splits them", () => recording([]), async (open) => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(message, { minLength: 1, maxLength: 6 }),
      fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 12 }),
      async (messages, cuts) => {
        const text = messages.map(written).join("");
        const places = [
          0,
          ...cuts.map((cut) => Math.floor(cut * text.length)).sort((a, b) => a - b),
          text.length,
        ];
        const parts = places.slice(1).map((end, i) => text.slice(places[i], end)).filter((part) =>
          part !== ""
        );
        const expected = messages.map(({ body, form }, n) => `<POST /${n} ${form === "none" ? "" : body}>`);
        const last = expected.at(-1) ?? "";
        const reply = await talk(
          open,
          parts,
          (sofar) => sofar.endsWith(last) && count(sofar, /HTTP\/1\.1 200/g) === messages.length,
        );
        const answers = reply.split(/HTTP\/1\.1 200 OK\r\n[^]*?\r\n\r\n/).slice(1);
        assert.deepEqual(answers, expected);
      },
    ),
    { numRuns: 60 },
  );
});

const REFUSED_LINES: readonly (readonly [string, number])[] = [
  ["BREW / HTTP/1.1", 501],
  ["GETT / HTTP/1.1", 501],
  ["get / HTTP/1.1", 501],
  ["CONNECT h:22 HTTP/1.1", 501],
  ["\r\n\r\nG / HTTP/1.0", 501],
  ["PRI * HTTP/2.0", 400],
  ["hello", 400],
  ["GET  / HTTP/1.1", 400],
  [" GET / HTTP/1.1", 400],
  ["\0GET / HTTP/1.1", 400],
];
testEdges(
  "a request line is refused alike wherever the network splits it",
  () => recording([]),
  async (open) => {
    for (const [line, status] of REFUSED_LINES) {
      const text = `${line}\r\nHost: h\r\n\r\n`;
      const ways = [[...text], ...Array.from(line, (_, at) => [text.slice(0, at), text.slice(at)])];
      for (const parts of ways.map((way) => way.filter((part) => part !== ""))) {
        const reply = await talk(open, parts, () => false);
        assert.match(reply, new RegExp(`^HTTP/1\\.1 ${status} `), JSON.stringify(parts));
      }
    }
  },
);

testEdges(
  "a method that arrives in pieces is read as a whole, even in a later request",
  () => recording([]),
  async (open) => {
    const text = "DELETE /a HTTP/1.1\r\nHost: h\r\n\r\n";
    const reply = await talk(open, [...`${text}\r\n${text}`], (sofar) => count(sofar, /<DELETE/g) === 2);
    assert.deepEqual(reply.match(/<[^>]*>/g), ["<DELETE /a >", "<DELETE /a >"]);
  },
);

/** Returns a handler that reads the body of a request only after `go()`. */
function patient(): { readonly answer: Handler; readonly arrived: Promise<void>; readonly go: () => void } {
  const { promise: arrived, resolve: arrive } = Promise.withResolvers<void>();
  const { promise: released, resolve: go } = Promise.withResolvers<void>();
  const answer: Handler = async ({ body }) => {
    arrive();
    await released;
    assert(body instanceof ReadableStream);
    const text = await new Response(body).text();
    return { status: 200, headers: new HeaderList(["Content-Length", String(text.length)]), body: text };
  };
  return { answer, arrived, go };
}

let waiting = patient();
testEdges("the edge sends 100 Continue only when the resource reads the body", () => {
  waiting = patient();
  return waiting.answer;
}, async (open) => {
  const socket = await open();
  let reply = "";
  socket.on("data", (part: Uint8Array) => reply += new TextDecoder().decode(part));
  socket.write("PUT /x HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n");
  await waiting.arrived;
  // Once the edge has answered another connection, everything that it sent earlier has arrived.
  await talk(open, ["GET /.. HTTP/1.1\r\nHost: h\r\n\r\n"], () => false);
  assert.equal(reply, "");
  waiting.go();
  await until(() => reply.endsWith("\r\n\r\n"));
  assert.match(reply, /^HTTP\/1\.1 100 Continue\r\n/);
  socket.write("body");
  await until(() => reply.endsWith("body"));
  assert.match(reply, /HTTP\/1\.1 200 OK\r\n/);
  assert.equal(count(reply, /HTTP\/1\.1 100/g), 1);
  socket.destroy();
});

testEdges(
  "an HTTP/1.0 client gets no 100 Continue, whatever it expects",
  () => recording([]),
  async (open) => {
    const head = (expect: string) =>
      `PUT /x HTTP/1.0\r\nHost: h\r\nExpect: ${expect}\r\nContent-Length: 4\r\n\r\n`;
    for (const expect of ["100-continue", "a miracle"]) {
      const reply = await talk(open, [head(expect), "body"], () => false);
      assert.match(reply, /^HTTP\/1\.1 200 OK\r\n/);
      assert.match(reply, /<PUT \/x body>$/);
    }
  },
);

const refusing: Handler = () =>
  Promise.resolve({ status: 401, headers: new HeaderList(["Content-Length", "2"]), body: "no" });
testEdges(
  "a refused client gets no 100 Continue, and its connection ends",
  () => refusing,
  async (open) => {
    const head = "PUT /x HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n";
    const reply = await talk(open, [head], (text) => text.endsWith("no"));
    assert.match(reply, /^HTTP\/1\.1 401 /);
    assert.match(reply, /\r\nConnection: close\r\n/i);
  },
);

Deno.test("RequestGate admits no request before the previous one is answered, and none after close()", async () => {
  const taken: boolean[] = [];
  let gate: RequestGate | undefined;
  const server = createServer((request, response) => {
    assert(gate);
    taken.push(gate.begin(request), gate.begin(request));
    gate.close();
    taken.push(gate.begin(request));
    response.end();
  });
  server.on("connection", (socket) => gate = new RequestGate(socket, () => {}, 10_000));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  assert(address !== null && typeof address === "object");
  const client = await openTcp(address.port);
  client.write("GET / HTTP/1.1\r\nHost: h\r\n\r\n");
  await once(client, "data");
  client.destroy();
  server.close();
  assert.deepEqual(taken, [true, false, false]);
});

Deno.test("RequestGate drops incoming bytes after close()", async () => {
  const { promise: over, resolve } = Promise.withResolvers<void>();
  const server = createServer(() => {});
  server.on("connection", (socket) => {
    new RequestGate(socket, () => {}, 10_000).close();
    socket.once("end", resolve);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  assert(address !== null && typeof address === "object");
  const client = await openTcp(address.port);
  client.on("error", () => {});
  client.end("x".repeat(1_000_000));
  try {
    await inTime(over, "the end of what the client sends");
  } finally {
    client.destroy();
    server.close();
  }
});
