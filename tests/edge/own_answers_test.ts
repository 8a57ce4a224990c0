/** Tests the edge's own answers: headers, log and counts. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:net";
import { LIMITS } from "../../src/edge/edge_options.ts";
import { HttpsEdge } from "../../src/edge/https_edge.ts";
import { createLogger } from "../../src/logging/logger.ts";
import type { ResponsePolicy } from "../../src/model/response_headers.ts";
import { sample } from "../../src/metrics/counters.ts";
import { httpError } from "../../src/model/http_error.ts";
import { partsWith } from "./edge_parts.ts";
import { readAll } from "./tls_client.ts";

const POLICY: ResponsePolicy = {
  hsts: { maxAgeSeconds: 100, includeSubDomains: false },
  frames: { policy: "deny", allowed: "" },
  cors: { origins: ["*"], methods: ["GET"], requestHeaders: ["*"], exposedHeaders: ["Location"] },
};
const lines: string[] = [];
const log = createLogger((line) => lines.push(line), { threshold: "info" });
const edge = await HttpsEdge.start(
  {
    address: "127.0.0.1",
    port: 0,
    maxConnections: 0,
    limits: { ...LIMITS, headersMs: 100, checkMs: 50 },
    policy: POLICY,
  },
  partsWith(() => Promise.reject(httpError("ERR_SERVICE_STARTING")), log),
);
Deno.test.afterAll(() => edge.drain(100));

const answers: [string, string, number, string, string][] = [
  ["bytes that are not HTTP", "hello\r\n\r\n", 400, "ERR_BAD_REQUEST", "other"],
  ["a long target", `GET /${"a".repeat(9000)} HTTP/1.1\r\n\r\n`, 414, "ERR_TARGET_TOO_LONG", "other"],
  [
    "long headers",
    `GET / HTTP/1.1\r\nX: ${"a".repeat(17_000)}\r\n\r\n`,
    431,
    "ERR_HEADERS_TOO_LARGE",
    "GET",
  ],
  [
    "a head that the parser refuses",
    `GET / HTTP/1.1\r\nX: ${"a".repeat(50_000)}\r\n\r\n`,
    431,
    "ERR_HEADERS_TOO_LARGE",
    "other",
  ],
  ["an unknown method", "BREW / HTTP/1.1\r\nHost: h\r\n\r\n", 501, "ERR_METHOD_UNKNOWN", "other"],
  ["a head that does not end", "GET / HTTP/1.1\r\nHost: h\r\n", 408, "ERR_REQUEST_TIMEOUT", "other"],
  ["a method that does not end", "GE", 408, "ERR_REQUEST_TIMEOUT", "other"],
  ["an unknown method that does not end", "BREW", 408, "ERR_REQUEST_TIMEOUT", "other"],
  [
    "a path that is not normalised",
    "PUT /a/../b HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n",
    400,
    "ERR_BAD_REQUEST",
    "PUT",
  ],
  [
    "a request without a core",
    "GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n",
    503,
    "ERR_SERVICE_STARTING",
    "GET",
  ],
];
for (const [what, sent, status, code, method] of answers) {
  Deno.test(`the edge's answer to ${what} has date, id and the headers of all answers, and is logged and counted`, async () => {
    edge.counted();
    const before = lines.length;
    const socket = connect(edge.port, "127.0.0.1");
    await once(socket, "connect");
    socket.write(sent);
    const reply = await readAll(socket);
    assert.match(reply, new RegExp(`^HTTP/1\\.1 ${status} [A-Z][A-Za-z]+`));
    const end = reply.indexOf("\r\n\r\n");
    const fields = reply.slice(0, end).split("\r\n").slice(1).map((line) => line.split(/: (.*)/, 2));
    const headers = new Headers(fields.map(([name = "", value = ""]): [string, string] => [name, value]));
    const error = JSON.parse(reply.slice(end));
    assert.equal(error.code, code);
    assert(Math.abs(Date.parse(headers.get("Date") ?? "") - Date.now()) < 3_600_000);
    assert.equal(headers.get("X-Request-Id"), error.requestId);
    assert.equal(headers.get("Strict-Transport-Security"), "max-age=100");
    assert.equal(headers.get("Access-Control-Allow-Origin"), "*");
    assert.equal(
      headers.get("Access-Control-Expose-Headers"),
      "Location, ETag, Retry-After, X-Request-Id, Content-Range",
    );
    assert.equal(headers.get("Content-Security-Policy"), "default-src 'none'; frame-ancestors 'none'");
    assert.equal(headers.get("Referrer-Policy"), "no-referrer");
    assert.equal(headers.get("Cross-Origin-Opener-Policy"), "same-origin");
    assert.equal(headers.get("Cross-Origin-Resource-Policy"), "cross-origin");
    assert.equal(headers.get("X-Content-Type-Options"), "nosniff");
    assert.equal(
      headers.get("Connection"),
      status === 400 || status >= 500 || status === 408 || status === 414 || status === 431 ? "close" : null,
    );
    const line = lines.slice(before).find((line) => line.includes(error.requestId)) ?? "";
    assert.match(
      line,
      new RegExp(` info +request refused at the edge .*client=127\\.0\\.0\\.1 status=${status} `),
    );
    assert.deepEqual(edge.counted(), [
      sample("authserver_requests_total", { route: "none", method, code: String(status) }, 1),
    ]);
  });
}

Deno.test("the edge sends nothing on a connection on which no request begins", async () => {
  const socket = connect(edge.port, "127.0.0.1");
  await once(socket, "connect");
  assert.equal(await readAll(socket), "");
});
