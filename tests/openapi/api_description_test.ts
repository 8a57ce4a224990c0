import assert from "node:assert/strict";
import { openApiDocument } from "../../src/service/http/openapi/document.ts";
import type { Route } from "../../src/service/http/router.ts";
import { ApiDescription, type Exchange } from "./api_description.ts";
import { emptyResponse } from "../../src/resource/text_response.ts";

const ROUTES: readonly Route[] = [
  {
    method: "GET",
    path: "/health/live",
    service: "open",
    produces: ["application/json"],
    doc: {
      id: "alive",
      summary: "Alive",
      answers: { 200: { description: "It is", content: { "application/json": "Live" } } },
    },
    answer: () => emptyResponse(),
  },
  {
    method: "DELETE",
    path: "/things/:id/*rest",
    service: "auth",
    doc: {
      id: "end",
      summary: "Gone",
      answers: { 201: { description: "Gone", headers: { Location: "Where" } } },
    },
    answer: () => emptyResponse(),
  },
];
const DESCRIPTION = new ApiDescription(openApiDocument(ROUTES, "https://auth.example.org"), ["SITE"]);

const ERROR = JSON.stringify({ status: 500, errorMessage: "x", code: "ERR_X", requestId: "1" });
const JSON_TYPE = { "Content-Type": "application/json" };

function diagnostics(
  method: string,
  path: string,
  status: number,
  { headers = {}, text = "" }: { readonly headers?: Record<string, string>; readonly text?: string } = {},
): string {
  const exchange: Exchange = { method, path, status, header: (name) => headers[name], text };
  return DESCRIPTION.diagnostics(exchange).join();
}

Deno.test("an answer as described is fine", () => {
  const live = { headers: { "Content-Type": "application/json; charset=utf-8" }, text: '{"live":true}' };
  assert.equal(diagnostics("GET", "/health/live", 200, live), "");
  assert.equal(diagnostics("GET", "/site/health/live/?x=1", 200, live), "");
  assert.equal(diagnostics("HEAD", "/health/live", 200, { headers: JSON_TYPE }), "");
  assert.equal(diagnostics("GET", "/health/live", 500, { headers: JSON_TYPE, text: ERROR }), "");
  assert.equal(diagnostics("DELETE", "/things/1/a/b", 201, { headers: { Location: "/" } }), "");
  assert.equal(diagnostics("PUT", "/health/live", 405, { headers: JSON_TYPE, text: ERROR }), "");
  assert.equal(diagnostics("GET", "/nothing", 404, { headers: JSON_TYPE, text: ERROR }), "");
  assert.equal(diagnostics("OPTIONS", "/health/live", 204), "");
});

Deno.test("an answer that is not described is told of", () => {
  assert.match(diagnostics("GET", "/health/live", 202), /status 202 is not described/);
  assert.match(diagnostics("GET", "/health/live", 401), /status 401 is not described/);
  assert.match(
    diagnostics("GET", "/health/live", 200, { headers: JSON_TYPE, text: '{"live":1}' }),
    /live: found 1/,
  );
  assert.match(
    diagnostics("GET", "/health/live", 200, { headers: { "Content-Type": "text/plain" } }),
    /media type/,
  );
  assert.match(diagnostics("DELETE", "/things/1/a", 201), /header Location is missing/);
  assert.match(
    diagnostics("DELETE", "/things/1/a", 201, { headers: { Location: "/" }, text: "x" }),
    /a body/,
  );
  assert.match(diagnostics("GET", "/nothing", 200), /status 200/);
  assert.match(
    diagnostics("GET", "/nothing", 404, { headers: JSON_TYPE, text: "{}" }),
    /errorMessage: is missing/,
  );
});

Deno.test("the description has one operation a name, one JSON answer a status, and says where nobody is asked who they are", () => {
  const { paths, tags } = JSON.parse(JSON.stringify(openApiDocument(ROUTES, "https://auth.example.org")));
  const operations: Record<string, unknown>[] = Object.values<Record<string, never>>(paths)
    .flatMap((methods) => Object.values(methods));
  assert.deepEqual(operations.map(({ operationId }) => operationId), ["alive", "end"]);
  assert.deepEqual(operations[0]?.security, []);
  assert.deepEqual(operations.map(({ parameters }) => Array.isArray(parameters) && parameters.length), [
    false,
    2,
  ]);
  assert.deepEqual(operations[0]?.tags, ["service"]);
  assert.equal(JSON.stringify(operations).includes("text/html"), false);
  assert.deepEqual(tags.map(({ name }: { readonly name: string }) => name), [
    "auth",
    "share",
    "access",
    "admin",
    "service",
  ]);
});
