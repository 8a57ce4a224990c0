import assert from "node:assert/strict";
import fc from "fast-check";
import { isHttpError } from "../../../src/model/http_error.ts";
import { type Route, Router } from "../../../src/service/http/router.ts";
import { CHARACTER } from "../../fixtures/character.ts";
import { emptyResponse } from "../../../src/resource/text_response.ts";

const answer = () => emptyResponse();
const routes: Route[] = [
  { method: "GET", path: "/rest/auth", service: "auth", answer },
  { method: "GET", path: "/rest/auth/token", service: "auth", answer },
  { method: "GET", path: "/rest/auth/:server", service: "auth", answer },
  { method: "POST", path: "/rest/auth/:server", service: "auth", answer },
  { method: "GET", path: "/rest/access/:server/:id", service: "access", answer },
  { method: "GET", path: "/rest/access/:server/:id/*path", service: "access", answer },
];
const router = new Router(routes);

const found: [string, string, string, Record<string, string>][] = [
  ["GET", "/rest/auth", "/rest/auth", {}],
  ["GET", "/rest/auth/", "/rest/auth", {}],
  ["HEAD", "/rest/auth", "/rest/auth", {}],
  ["GET", "/rest/auth/token", "/rest/auth/token", {}],
  ["GET", "/rest/auth/HPC", "/rest/auth/:server", { server: "HPC" }],
  ["POST", "/rest/auth/HPC/", "/rest/auth/:server", { server: "HPC" }],
  ["POST", "/rest/auth/H%50C", "/rest/auth/:server", { server: "HPC" }],
  ["GET", "/rest/auth/:server", "/rest/auth/:server", { server: ":server" }],
  ["GET", "/rest/access/HPC/x", "/rest/access/:server/:id", { server: "HPC", id: "x" }],
  ["GET", "/rest/access/HPC/x/", "/rest/access/:server/:id/*path", { server: "HPC", id: "x", path: "" }],
  ["GET", "/rest/access/HPC/x/a/b%2F/", "/rest/access/:server/:id/*path", {
    server: "HPC",
    id: "x",
    path: "a/b%2F/",
  }],
];
for (const [method, path, route, params] of found) {
  Deno.test(`Router.match() routes ${method} ${path} to ${route}`, () => {
    const match = router.match(method, path);
    assert.equal(match.route.path, route);
    assert.deepEqual(Object.fromEntries(match.params), params);
  });
}

for (
  const path of [
    "/",
    "",
    "/rest",
    "/rest/",
    "/REST/auth",
    "/rest/auth/a/b",
    "/rest//auth",
    "//rest/auth",
    "/rest/auth//",
  ]
) {
  Deno.test(`Router.match() finds no route at "${path}"`, () => {
    assert.throws(() => router.match("GET", path), { code: "ERR_NOT_FOUND" });
  });
}

const notAllowed: [string, string, string][] = [
  ["PUT", "/rest/auth", "GET, HEAD, OPTIONS"],
  ["POST", "/rest/auth/token", "GET, HEAD, OPTIONS"],
  ["DELETE", "/rest/auth/HPC", "GET, HEAD, POST, OPTIONS"],
  ["TRACE", "/rest/auth/HPC", "GET, HEAD, POST, OPTIONS"],
];
for (const [method, path, allow] of notAllowed) {
  Deno.test(`Router.match() does not allow ${method} ${path}`, () => {
    assert.throws(() => router.match(method, path), (error) => {
      assert(isHttpError(error, "ERR_METHOD_NOT_ALLOWED"));
      assert.equal(error.headers.Allow, allow);
      return true;
    });
  });
}

Deno.test("Router.match() refuses a bad percent-encoding", () => {
  assert.throws(() => router.match("GET", "/rest/auth/%zz"), { code: "ERR_INVALID_REQUEST" });
});

Deno.test("Router.match() finds a route or reports why not, for any path", () => {
  const segment = fc.string({ unit: CHARACTER }).map(encodeURIComponent);
  const paths = fc.array(fc.oneof(segment, fc.constantFrom("rest", "auth", "access", "%", ".", "*")))
    .map((segments) => `/${segments.join("/")}`);
  fc.assert(fc.property(paths, (path) => {
    try {
      router.match("GET", path);
    } catch (error) {
      assert(
        isHttpError(error, "ERR_NOT_FOUND") || isHttpError(error, "ERR_METHOD_NOT_ALLOWED") ||
          isHttpError(error, "ERR_INVALID_REQUEST"),
      );
    }
  }));
});
