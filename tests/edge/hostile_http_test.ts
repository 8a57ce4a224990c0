/** Tests ambiguous requests (RFC 9112, 11.2), and bytes that are not requests. */
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { once } from "node:events";
import { LIMITS } from "../../src/edge/edge_options.ts";
import { HttpsEdge } from "../../src/edge/https_edge.ts";
import { HeaderList, type HttpRequest } from "../../src/model/http_message.ts";
import { createAuthority } from "../pki/authority.ts";
import { partsWith } from "./edge_parts.ts";
import { openTls } from "./tls_client.ts";
import { inTime } from "../fixtures/deadline.ts";

const authority = createAuthority({ subject: "CN=Test CA" });
const credential = authority.issue({ subject: "CN=localhost", names: ["localhost"] });
const seen: HttpRequest[] = [];
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
    limits: LIMITS,
  },
  partsWith((request) => {
    seen.push(request);
    return Promise.resolve({ status: 200, headers: new HeaderList(["Content-Length", "2"]), body: "ok" });
  }),
);
Deno.test.afterAll(() => edge.drain(100));

const get = (head: string, version = "1.1") => `GET / HTTP/${version}\r\n${head}\r\n`;
/** Longest `Authorization` that the service reads. */
const LONG = `Authorization: Bearer ${"a".repeat(32 * 1024 - "Bearer ".length)}\r\n`;
const post = (head: string, body: string) => `POST /x HTTP/1.1\r\nHost: h\r\n${head}\r\n${body}`;
const chunked = (body: string) => post("Transfer-Encoding: chunked\r\n", body);

/** Requests that the edge refuses, with the status of the only answer. */
const refused: [string, string, number][] = [
  ["no Host header", get(""), 400],
  ["two Hosts", get("Host: a\r\nHost: b\r\n"), 400],
  ["a duplicate Host", get("Host: a\r\nhost: a\r\n"), 400],
  ["an empty Host", get("Host:\r\n"), 400],
  ["a Host with a path", get("Host: a/b\r\n"), 400],
  ["a Host with a user", get("Host: user@a\r\n"), 400],
  ["a list of Hosts", get("Host: a, b\r\n"), 400],
  ["HTTP/0.9", "GET /\r\n\r\n", 505],
  ["HTTP/1.2", get("Host: h\r\n", "1.2"), 400],
  ["HTTP/2 in the clear", get("Host: h\r\n", "2.0"), 505],
  ["the preface of HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400],
  ["a target without a slash", "GET x HTTP/1.1\r\nHost: h\r\n\r\n", 400],
  ["a target with backslashes", "GET \\x HTTP/1.1\r\nHost: h\r\n\r\n", 400],
  ["a target with a fragment", "GET /x#y HTTP/1.1\r\nHost: h\r\n\r\n", 400],
  ["* with GET", "GET * HTTP/1.1\r\nHost: h\r\n\r\n", 400],
  ["NUL in the target", "GET /\0 HTTP/1.1\r\nHost: h\r\n\r\n", 400],
  ["bytes beyond ASCII in the target", "GET /\xff HTTP/1.1\r\nHost: h\r\n\r\n", 400],
  ["a blank in the target", "GET /a b HTTP/1.1\r\nHost: h\r\n\r\n", 400],
  ["a folded header", get("Host: h\r\nX: 1\r\n 2\r\n"), 400],
  ["a blank before the first header", get(" Host: h\r\n"), 400],
  ["a blank before the colon", get("Host: h\r\nX : 1\r\n"), 400],
  ["a header without a colon", get("Host: h\r\nX\r\n"), 400],
  ["a header without a name", get("Host: h\r\n: 1\r\n"), 400],
  ["NUL in a header", get("Host: h\r\nX: a\0b\r\n"), 400],
  ["CR in a header", get("Host: h\r\nX: a\rb\r\n"), 400],
  ["DEL in a header", get("Host: h\r\nX: a\x7fb\r\n"), 400],
  ["LF for line ends", "GET / HTTP/1.1\nHost: h\n\n", 400],
  ["one LF among the line ends", "GET / HTTP/1.1\r\nHost: h\nX: 1\r\n\r\n", 400],
  ["CR for line ends", "GET / HTTP/1.1\rHost: h\r\r", 400],
  ["length and chunks", post("Content-Length: 6\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\nG"), 400],
  ["chunks and length", post("Transfer-Encoding: chunked\r\nContent-Length: 4\r\n", "0\r\n\r\n"), 400],
  ["two codings", post("Transfer-Encoding: chunked\r\nTransfer-Encoding: x\r\n", "0\r\n\r\n"), 400],
  ["another coding before chunked", post("Transfer-Encoding: gzip, chunked\r\n", "0\r\n\r\n"), 501],
  ["a coding that looks like chunked", post("Transfer-Encoding: xchunked\r\n", "0\r\n\r\n"), 400],
  ["chunked, misspelt with a blank", post("Transfer-Encoding : chunked\r\n", "0\r\n\r\n"), 400],
  ["chunks in HTTP/1.0", "POST /x HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400],
  ...["+2", "-2", "0x2", "2, 2", "1 2", "", "2a", "99999999999999999999999"].map((
    length,
  ): [string, string, number] => [
    `the length "${length}"`,
    post(`Content-Length: ${length}\r\n`, "{}"),
    400,
  ]),
  ["two lengths that agree", post("Content-Length: 2\r\nContent-Length: 2\r\n", "{}"), 400],
  ["a chunk with LF for line ends", chunked("2\n{}\n0\n\n"), 400],
  ["LF after a chunk extension", chunked("2;a\n{}\r\n0\r\n\r\n"), 400],
  ["a chunk size in C notation", chunked("0x2\r\n{}\r\n0\r\n\r\n"), 400],
  ["a negative chunk size", chunked("-2\r\n{}\r\n0\r\n\r\n"), 400],
  ["a chunk size with a blank", chunked("2 \r\n{}\r\n0\r\n\r\n"), 400],
  ["a chunk size beyond 64 bits", chunked("ffffffffffffffffff\r\n{}\r\n0\r\n\r\n"), 400],
  ["a chunk without its line end", chunked("2\r\n{}0\r\n\r\n"), 400],
  ["an unknown expectation", post("Expect: a miracle\r\nContent-Length: 2\r\n", "{}"), 417],
  [
    "3,000 headers",
    get(`Host: h\r\n${Array.from({ length: 3000 }, (_, i) => `X${i}: 1\r\n`).join("")}`),
    431,
  ],
  ["1,000 headers", get(`Host: h\r\n${"X:\r\n".repeat(999)}`), 431],
  [
    "headers over 16 KiB besides a long Authorization",
    get(`Host: h\r\n${LONG}X: ${"a".repeat(16_384)}\r\n`),
    431,
  ],
  ["an Authorization over 48 KiB", get(`Host: h\r\nAuthorization: ${"a".repeat(50_000)}\r\n`), 431],
  ["a target of 20,000 characters", `GET /${"a".repeat(20_000)} HTTP/1.1\r\nHost: h\r\n\r\n`, 414],
  ["a target of 9,000 characters", `GET /${"a".repeat(9_000)} HTTP/1.1\r\nHost: h\r\n\r\n`, 414],
  ["a target that never ends", `GET /${"a".repeat(9_000)}`, 414],
  ["an unknown method", "GETT / HTTP/1.1\r\nHost: h\r\n\r\n", 501],
  ["CONNECT", "CONNECT h:22 HTTP/1.1\r\nHost: h:22\r\n\r\n", 501],
  [
    "CONNECT after as many empty lines as a request",
    "\r\n\r\nCONNECT h:22 HTTP/1.1\r\nHost: h\r\n\r\n",
    501,
  ],
  ["two blanks before the target", "GET  / HTTP/1.1\r\nHost: h\r\n\r\n", 400],
  ["two blanks after the target", "GET /  HTTP/1.1\r\nHost: h\r\n\r\n", 400],
  ["a blank after the version", "GET / HTTP/1.1 \r\nHost: h\r\n\r\n", 400],
  ["a blank before the method", " GET / HTTP/1.1\r\nHost: h\r\n\r\n", 400],
  ["a tab in the request line", "GET\t/ HTTP/1.1\r\nHost: h\r\n\r\n", 400],
  ["a bare LF after the request line", "GET / HTTP/1.1\nHost: h\r\n\r\n", 400],
  ["a bare LF before the request line", "\nGET / HTTP/1.1\r\nHost: h\r\n\r\n", 400],
  ["only empty lines", "\r\n".repeat(100), 400],
  ...[
    "/rest/access/../share/TEST/id",
    "/rest/%2e%2E/auth",
    "/.%2e/auth",
    "/rest/./auth",
    "/rest/.",
    "/..",
    "//rest/auth",
    "/rest//auth",
    "/rest\\auth",
    "/rest/auth/..\\x",
    "http://h/../rest",
    "/rest/auth#x",
    "http://h//rest",
    "http://user@h/rest",
    "https://user:secret@h/rest",
    "http://h@/rest",
    "http:///rest",
    "http://h:x/rest",
    "https://h\\rest",
  ].map((
    target,
  ): [string, string, number] => [
    `the target ${target}, which is not in its normal form`,
    `PUT ${target} HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\n\r\n`,
    400,
  ]),
  ["a method in lower case", "get / HTTP/1.1\r\nHost: h\r\n\r\n", 501],
  ["TLS within TLS", "\x16\x03\x01\x02\x00\x01\x00", 400],
  ["noise", "\x00\x01\x02\x03", 400],
];
for (const [what, text, status] of refused) {
  Deno.test(`HttpsEdge refuses ${what} with ${status} and ends the connection`, async () => {
    const before = seen.length;
    const reply = await send(text, isTaken);
    assert.match(reply, new RegExp(`^HTTP/1\\.1 ${status} `));
    assert.equal(reply.match(/HTTP\/1\.1 /g)?.length, 1, "one answer, whatever follows");
    const error = JSON.parse(reply.slice(reply.indexOf("\r\n\r\n")));
    assert.equal(error.status, status);
    assert.match(error.code, /^ERR_/);
    assert.equal(seen.length, before, "nobody behind the edge hears of it");
  });
}

/** Requests that look odd but are valid, with the parsed request. */
const accepted: [string, string, Partial<HttpRequest>][] = [
  ["HTTP/1.0 without Host", get("", "1.0"), { path: "/" }],
  ["a target in absolute form", "GET http://a.b/x?y HTTP/1.1\r\nHost: h\r\n\r\n", { path: "/x", query: "y" }],
  ["an absolute target without a path", "GET https://a.b HTTP/1.1\r\nHost: h\r\n\r\n", { path: "/" }],
  ["an absolute target with only a query", "GET https://a.b?q HTTP/1.1\r\nHost: h\r\n\r\n", {
    path: "/",
    query: "q",
  }],
  ["OPTIONS *", "OPTIONS * HTTP/1.1\r\nHost: h\r\n\r\n", { path: "/", method: "OPTIONS" }],
  ["a Host that is an IPv6 address", get("Host: [::1]:9000\r\n"), { path: "/" }],
  ["leading empty lines", `\r\n\r\n${get("Host: h\r\n")}`, { path: "/" }],
  [
    "an Authorization of 32 KiB besides 15 KiB of others",
    get(`Host: h\r\n${LONG}X: ${"a".repeat(15_000)}\r\n`),
    {
      path: "/",
    },
  ],
  ["an upgrade, which the edge ignores", get("Host: h\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n"), {
    path: "/",
  }],
  ["__proto__ for a name", get("Host: h\r\n__proto__: x\r\n"), { path: "/" }],
  ["a chunk extension", chunked("2;a=b\r\n{}\r\n0\r\n\r\n"), { body: Buffer.from("{}") }],
  ["a trailer, which is dropped", chunked("2\r\n{}\r\n0\r\nHost: x\r\n\r\n"), { body: Buffer.from("{}") }],
  ["a body with GET", get("Host: h\r\nContent-Length: 2\r\n") + "{}", { body: Buffer.from("{}") }],
];
for (const [what, text, expected] of accepted) {
  Deno.test(`HttpsEdge accepts ${what}`, async () => {
    const before = seen.length;
    const reply = await send(text, isTaken);
    assert.match(reply, /^HTTP\/1\.1 200 /);
    assert.equal(seen.length, before + 1);
    const request = seen[before];
    for (const [name, value] of Object.entries(expected)) {
      const found: unknown = request && Reflect.get(request, name);
      assert.deepEqual(found instanceof Uint8Array ? Buffer.from(found) : found, value);
    }
    assert(
      !request?.headers.fields.includes("x") || what === "__proto__ for a name",
      "a trailer is no header",
    );
  });
}

Deno.test("HttpsEdge parses bytes after a body as the next request", async () => {
  const before = seen.length;
  const second = "GET /second HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n";
  const reply = await send(post("Content-Length: 2\r\n", `{}${second}`));
  assert.equal(reply.match(/HTTP\/1\.1 200 /g)?.length, 2);
  assert.deepEqual(seen.slice(before).map(({ path }) => path).sort(), ["/second", "/x"]);
});

/** Reports whether a reply is the whole answer to an accepted request; a refusal ends the connection. */
function isTaken(reply: string): boolean {
  return reply.endsWith("\r\n\r\nok");
}

/** Sends bytes and returns the reply up to the end of the connection, or until it is enough. */
async function send(text: string, enough: (reply: string) => boolean = () => false): Promise<string> {
  const socket = await openTls(edge.port);
  socket.write(Buffer.from(text, "latin1"));
  let reply = "";
  const whole = new Promise<string>((resolve) => {
    socket.on("data", (part: Uint8Array) => {
      reply += new TextDecoder().decode(part);
      if (enough(reply)) resolve(reply);
    });
    socket.on("error", () => {}); // may end in a reset; the bytes before it are the reply
    socket.once("close", () => resolve(reply));
  });
  const result = await inTime(whole, "the end of the connection");
  socket.destroy();
  if (!socket.closed) await once(socket, "close");
  return result;
}
