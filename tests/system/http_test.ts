/** HTTP of the service: methods, media types, sizes, addresses (rest-api.md 1.1, 1.3, 1.8). */
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { once } from "node:events";
import { openTls } from "../edge/tls_client.ts";
import type { Question } from "./ask.ts";
import { ALICE, runReloadedService } from "./running_service.ts";

const system = await runReloadedService({ properties: { "container.sitename": "Demo-Site" } });
Deno.test.afterAll(() => system[Symbol.asyncDispose]());

const SESSION: Question = { as: ALICE, body: { serverPath: "" } };

const facts: [string, string, Question, number, string | undefined][] = [
  ["a trailing slash", "/rest/auth/", { as: ALICE }, 200, undefined],
  ["a trailing slash on a server", "/rest/auth/HPC/", SESSION, 200, undefined],
  ["the site's name as a prefix", "/Demo-Site/rest/auth", { as: ALICE }, 200, undefined],
  ["the site's name in lower case", "/demo-site/rest/auth/HPC", SESSION, 200, undefined],
  ["another site's name", "/OTHER/rest/auth", { as: ALICE }, 404, "ERR_NOT_FOUND"],
  ["a query", "/rest/auth?fields=a&x=%00", { as: ALICE }, 200, undefined],
  ["an unknown path", "/rest/other", { as: ALICE }, 404, "ERR_NOT_FOUND"],
  ["WebDAV where it is not enabled", "/dav/HPC/~/", { as: ALICE }, 404, "ERR_NOT_FOUND"],
  ["a path above the root", "/../rest/auth", { as: ALICE }, 200, undefined], // the client normalises it
  ["a path with two slashes", "//rest/auth", { as: ALICE }, 400, "ERR_BAD_REQUEST"],
  ["a bad percent-encoding", "/rest/auth/%ff", { as: ALICE }, 400, "ERR_INVALID_REQUEST"],
  ["a server's name in percent-encoding", "/rest/auth/%48PC", { as: ALICE }, 200, undefined],
  ["POST on the root", "/", { ...SESSION }, 405, "ERR_METHOD_NOT_ALLOWED"],
  ["POST on the list", "/rest/auth", { ...SESSION }, 405, "ERR_METHOD_NOT_ALLOWED"],
  ["PUT", "/rest/auth/HPC", { ...SESSION, method: "PUT" }, 405, "ERR_METHOD_NOT_ALLOWED"],
  ["DELETE", "/rest/auth/HPC", { as: ALICE, method: "DELETE" }, 405, "ERR_METHOD_NOT_ALLOWED"],
  ["PATCH", "/rest/auth/HPC", { ...SESSION, method: "PATCH" }, 405, "ERR_METHOD_NOT_ALLOWED"],
  ["TRACE", "/rest/auth", { method: "TRACE" }, 405, "ERR_METHOD_NOT_ALLOWED"],
  ["a method of WebDAV", "/rest/auth", { method: "PROPFIND" }, 405, "ERR_METHOD_NOT_ALLOWED"],
  ["Accept: */*", "/rest/auth", { as: ALICE, headers: { Accept: "*/*" } }, 200, undefined],
  [
    "an invalid Accept header",
    "/rest/auth",
    { as: ALICE, headers: { Accept: "json" } },
    200,
    undefined,
  ],
  [
    "Accept: image/png",
    "/rest/auth",
    { as: ALICE, headers: { Accept: "image/png" } },
    406,
    "ERR_NOT_ACCEPTABLE",
  ],
  [
    "Accept: application/json;q=0",
    "/rest/auth/HPC",
    { as: ALICE, headers: { Accept: "application/json;q=0" } },
    406,
    "ERR_NOT_ACCEPTABLE",
  ],
  [
    "a charset in the media type",
    "/rest/auth/HPC",
    { ...SESSION, headers: { "Content-Type": "Application/JSON; charset=UTF-8" } },
    200,
    undefined,
  ],
  [
    "a form",
    "/rest/auth/HPC",
    { ...SESSION, headers: { "Content-Type": "application/x-www-form-urlencoded" } },
    415,
    "ERR_UNSUPPORTED_MEDIA_TYPE",
  ],
  [
    "a compressed body",
    "/rest/auth/HPC",
    { ...SESSION, headers: { "Content-Encoding": "gzip" } },
    415,
    "ERR_UNSUPPORTED_CODING",
  ],
  [
    "a body over 64 KiB",
    "/rest/auth/HPC",
    { as: ALICE, body: { serverPath: "a".repeat(70_000) } },
    413,
    "ERR_BODY_TOO_LARGE",
  ],
  [
    "an Accept header of 15,500 blanks",
    "/rest/auth",
    { as: ALICE, headers: { Accept: `text/html${" ".repeat(15_500)}x` } },
    431,
    "ERR_HEADER_TOO_LONG",
  ],
  [
    "headers over 16 KiB",
    "/rest/auth",
    { as: ALICE, headers: { "X-Long": "a".repeat(17_000) } },
    431,
    "ERR_HEADERS_TOO_LARGE",
  ],
  [
    "credentials that are not base64",
    "/rest/auth",
    { headers: { Authorization: "Basic !!!" } },
    401,
    undefined,
  ],
  [
    "credentials without a colon",
    "/rest/auth",
    { headers: { Authorization: `Basic ${btoa("alice")}` } },
    401,
    "ERR_UNAUTHENTICATED",
  ],
  [
    "an unknown scheme",
    "/rest/auth",
    { headers: { Authorization: "Negotiate abc" } },
    401,
    "ERR_UNAUTHENTICATED",
  ],
  [
    "a malformed token",
    "/rest/auth",
    { headers: { Authorization: "Bearer abc" } },
    401,
    "ERR_UNAUTHENTICATED",
  ],
  [
    "the scheme in lower case",
    "/rest/auth",
    { headers: { Authorization: `basic ${btoa(ALICE.join(":"))}` } },
    200,
    undefined,
  ],
];
for (const [what, path, question, status, code] of facts) {
  Deno.test(`${what} gets ${status}`, async () => {
    const reply = await system.ask(path, question);
    assert.equal(reply.status, status, reply.text);
    assert.equal(reply.headers["x-frame-options"], "DENY");
    assert.equal(reply.headers["x-content-type-options"], "nosniff");
    assert.equal(reply.headers["cross-origin-opener-policy"], "same-origin");
    assert.equal(reply.headers["cross-origin-resource-policy"], "same-origin");
    assert.equal(reply.headers["cache-control"], "no-store");
    assert.equal(reply.headers.server, undefined);
    if (status < 400) return;
    const error = reply.json();
    assert.deepEqual(Object.keys(error).sort(), ["code", "errorMessage", "requestId", "status"]);
    assert.equal(error.status, status);
    if (code !== undefined) assert.equal(error.code, code);
    if (status === 405) assert.match(reply.headers.allow ?? "", /GET, HEAD|POST/);
    if (status === 401) assert.match(reply.headers["www-authenticate"] ?? "", /^Basic realm="Demo-Site"/);
  });
}

Deno.test("OPTIONS lists the methods of a resource without credentials", async () => {
  const list = await system.ask("/rest/auth", { method: "OPTIONS" });
  assert.equal(list.status, 204);
  assert.equal(list.headers.allow, "GET, HEAD, OPTIONS");
  const server = await system.ask("/rest/auth/HPC", { method: "OPTIONS" });
  assert.equal(server.headers.allow, "GET, HEAD, POST, OPTIONS");
  assert.equal((await system.ask("/rest/other", { method: "OPTIONS" })).status, 404);
});

Deno.test("HEAD is GET without the body", async () => {
  const get = await system.ask("/rest/auth", { as: ALICE });
  const head = await system.ask("/rest/auth", { as: ALICE, method: "HEAD" });
  assert.equal(head.status, 200);
  assert.equal(head.text, "");
  assert.equal(head.headers["content-type"], get.headers["content-type"]);
  assert.equal(head.headers["content-length"], get.headers["content-length"]);
  const refused = await system.ask("/rest/auth", { as: ["alice", "guess"], method: "HEAD" });
  assert.equal(refused.status, 401);
  assert.equal(refused.text, "");
});

Deno.test("a client that prefers HTML gets errors as a page, with the same status and headers", async () => {
  const browser = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";
  const wrong = await system.ask("/rest/auth", { as: ["alice", "guess"], headers: { Accept: browser } });
  assert.equal(wrong.status, 401);
  assert.match(wrong.headers["www-authenticate"] ?? "", /^Basic/);
  assert.match(wrong.headers["content-type"] ?? "", /^text\/html/);
  assert.match(String(wrong.headers["content-security-policy"]), /default-src 'none'/);
  assert.match(wrong.text, /^<!doctype html>/);
  const missing = await system.ask("/nothing/<script>evil", { headers: { Accept: browser } });
  assert.equal(missing.status, 404);
  assert(!missing.text.includes("<script>evil"));
});

Deno.test("all failed logins get the same body", async () => {
  const bodies = await Promise.all([
    system.ask("/rest/auth", { as: ["alice", "guess"] }),
    system.ask("/rest/auth", { as: ["nobody", "guess"] }),
    system.ask("/rest/auth", { headers: { Authorization: "Basic !" } }),
    system.ask("/rest/auth", { headers: { Authorization: "Bearer a.b.c" } }),
  ]);
  const texts = bodies.map(({ text }) => text.replace(/"requestId":"[^"]*"/, ""));
  assert.equal(new Set(texts).size, 1);
  const [password = "", nobody, unreadable, token] = bodies.map(({ headers }) => headers["www-authenticate"]);
  assert.deepEqual([nobody, unreadable, token], [password, password, `${password}, error="invalid_token"`]);
});

const RAW: [string, string, RegExp][] = [
  [
    "OPTIONS *",
    "OPTIONS * HTTP/1.1\r\nHost: h\r\n",
    /^HTTP\/1\.1 204 [^]*\r\nallow: GET, HEAD, OPTIONS\r\n/i,
  ],
  ["an absolute target", "GET https://other.example/rest/auth HTTP/1.1\r\nHost: h\r\n", /^HTTP\/1\.1 200 /],
  ["CONNECT", "CONNECT 127.0.0.1:22 HTTP/1.1\r\nHost: h\r\n", /^HTTP\/1\.1 501 /],
  ["no Host", "GET /rest/auth HTTP/1.1\r\n", /^HTTP\/1\.1 400 /],
  ["HTTP/1.0", "GET /rest/auth HTTP/1.0\r\n", /^HTTP\/1\.[01] 200 /],
  [
    "bytes beyond ASCII in a header",
    "GET /rest/auth HTTP/1.1\r\nHost: h\r\nX: \xff\xfe\r\n",
    /^HTTP\/1\.1 200 /,
  ],
  ["bytes beyond ASCII in the path", "GET /rest/\xff HTTP/1.1\r\nHost: h\r\n", /^HTTP\/1\.1 4\d\d /],
  [
    "a repeated header",
    "GET /rest/auth HTTP/1.1\r\nHost: h\r\nAuthorization: Basic YTpi\r\nAuthorization: Basic YTpj\r\n",
    /^HTTP\/1\.1 401 /,
  ],
  [
    "an unreadable request line",
    "GET\r\n",
    /^HTTP\/1\.1 400 /,
  ],
  [
    "an upgrade",
    "GET /rest/auth HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n",
    /^HTTP\/1\.1 [24]\d\d /,
  ],
];
for (const [what, head, expected] of RAW) {
  Deno.test(`${what} gets an answer, and the service keeps running`, async () => {
    const socket = await openTls(system.port);
    const close = head.includes("Connection:") ? "" : "Connection: close\r\n";
    socket.write(Buffer.from(`${head}${head.includes("HTTP/") ? close : ""}\r\n`, "latin1"));
    const [first] = await Promise.race([once(socket, "data"), once(socket, "close")]);
    assert.match(first instanceof Uint8Array ? new TextDecoder().decode(first) : "", expected);
    socket.destroy();
    assert.equal((await system.ask("/health/live")).status, 200);
  });
}

Deno.test("the service logged no error for the requests of this file", () => {
  const errors = system.log.filter((line) => / error /.test(line));
  assert.deepEqual(errors, []);
});

/** Configures a gateway, for the last tests. */
const behindGateway = () =>
  system.reloadWith({
    "container.baseurl": "gw.example.org:8080/AUTH/services",
    "container.security.gateway.enable": "true",
    "container.security.gateway.trustedPeers": "127.0.0.1",
    "container.security.rest.authentication.failOnMissingAuthCredentials": "true",
  });

/** Headers that a gateway sends, or a client that poses as one. */
const FORWARDED = {
  "X-UNICORE-Gateway": "https://gw.example.org/SITE",
  "X-UNICORE-Consignor-IP": "203.0.113.9",
  "X-Forwarded-For": "203.0.113.10",
};

Deno.test("a daemon expects the client address that a configured gateway sends; headers of other senders have no effect", async () => {
  const expected = () => system.daemon().sessionRequests.at(-1)?.get("client-ip");
  await system.ask("/rest/auth/HPC", { ...SESSION, headers: FORWARDED });
  assert.equal(expected(), "127.0.0.1,::ffff:127.0.0.1");
  const { href } = (await system.ask("/rest/auth/HPC", { as: ALICE, headers: FORWARDED })).json();
  assert.equal(href, `https://localhost:${system.port}/rest/auth/HPC`);
  const strict = await behindGateway();
  await strict.ask("/rest/auth/HPC", { ...SESSION, headers: FORWARDED });
  assert.equal(expected(), "203.0.113.9,::ffff:203.0.113.9");
});

Deno.test("links begin with the configured address or, behind a gateway, with the https address that it sends", async () => {
  const strict = await behindGateway();
  const direct = (await strict.ask("/rest/auth/HPC", { as: ALICE })).json();
  assert.equal(direct.href, "https://gw.example.org:8080/AUTH/rest/auth/HPC");
  const through = (await strict.ask("/rest/auth/HPC", { as: ALICE, headers: FORWARDED })).json();
  assert.equal(through.href, "https://gw.example.org/SITE/rest/auth/HPC");
  const plain = { ...FORWARDED, "X-UNICORE-Gateway": "http://gw.example.org:8080/SITE" };
  const bad = (await strict.ask("/rest/auth/HPC", { as: ALICE, headers: plain })).json();
  assert.equal(bad.href, direct.href);
});

Deno.test("failOnMissingAuthCredentials refuses anonymous callers", async () => {
  const strict = await behindGateway();
  const reply = await strict.ask("/rest/auth");
  assert.equal(reply.status, 401);
  assert.match(reply.headers["www-authenticate"] ?? "", /^Basic/);
  assert.equal((await strict.ask("/rest/auth", { as: ALICE })).status, 200);
  assert.equal((await strict.ask("/health/live")).status, 200);
});
