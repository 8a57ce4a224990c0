import assert from "node:assert/strict";
import { openApiDocument } from "../../src/service/http/openapi.ts";
import { type Route, table } from "../../src/service/http/router.ts";
import { ApiDescription, type Exchange } from "./api_description.ts";
import { emptyResponse } from "../../src/resource/text_response.ts";

const ROUTES: readonly Route[] = table(
  { service: "access", produces: ["application/json"] },
  ["GET", "/health/live", () => emptyResponse(), { service: "open" }],
  ["PUT", "/rest/access/:server/:id/*rest", () => emptyResponse()],
);
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

Deno.test("ApiDescription accepts a described answer", () => {
  const live = { headers: { "Content-Type": "application/json; charset=utf-8" }, text: '{"live":true}' };
  assert.equal(diagnostics("GET", "/health/live", 200, live), "");
  assert.equal(diagnostics("GET", "/site/health/live/?x=1", 200, live), "");
  assert.equal(diagnostics("HEAD", "/health/live", 200, { headers: JSON_TYPE }), "");
  assert.equal(diagnostics("GET", "/health/live", 500, { headers: JSON_TYPE, text: ERROR }), "");
  assert.equal(diagnostics("PUT", "/rest/access/A/1/a/b", 202, { headers: { "Upload-Offset": "5" } }), "");
  assert.equal(diagnostics("PUT", "/health/live", 405, { headers: JSON_TYPE, text: ERROR }), "");
  assert.equal(diagnostics("GET", "/nothing", 404, { headers: JSON_TYPE, text: ERROR }), "");
  assert.equal(diagnostics("OPTIONS", "/health/live", 204), "");
});

Deno.test("ApiDescription reports an undescribed answer", () => {
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
  assert.match(diagnostics("PUT", "/rest/access/A/1/a", 202), /header Upload-Offset is missing/);
  assert.match(
    diagnostics("PUT", "/rest/access/A/1/a", 202, { headers: { "Upload-Offset": "5" }, text: "x" }),
    /a body/,
  );
  assert.match(diagnostics("GET", "/nothing", 200), /status 200/);
  assert.match(
    diagnostics("GET", "/nothing", 404, { headers: JSON_TYPE, text: "{}" }),
    /errorMessage: is missing/,
  );
});
