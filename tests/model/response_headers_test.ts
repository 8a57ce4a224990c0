import assert from "node:assert/strict";
import { addCommonHeaders, PLAIN_POLICY, type ResponsePolicy } from "../../src/model/response_headers.ts";
import { HeaderList } from "../../src/model/http_message.ts";

function headersOf(
  policy: Partial<ResponsePolicy>,
  asked: Record<string, string> = {},
  own: Record<string, string> = {},
) {
  const headers = HeaderList.of(own);
  const by = {
    method: asked["Access-Control-Request-Method"] ? "OPTIONS" : "GET",
    headers: HeaderList.of(asked),
  };
  addCommonHeaders(headers, by, { ...PLAIN_POLICY, ...policy });
  return headers;
}

Deno.test("addCommonHeaders() keeps the headers that a resource sets", () => {
  const headers = headersOf({}, {}, {
    "Cache-Control": "private",
    "Content-Security-Policy": "default-src 'none'; sandbox",
  });
  assert.equal(headers.get("Cache-Control"), "private");
  assert.equal(headers.get("Content-Security-Policy"), "default-src 'none'; sandbox");
  assert.equal(headers.get("Strict-Transport-Security"), null);
  assert.equal(headers.get("Access-Control-Allow-Origin"), null);
});

const frames: [ResponsePolicy["frames"], string | null, string][] = [
  [{ policy: "deny", allowed: "" }, "DENY", "'none'"],
  [{ policy: "sameOrigin", allowed: "" }, "SAMEORIGIN", "'self'"],
  [
    { policy: "allowFrom", allowed: "https://a.example" },
    "ALLOW-FROM https://a.example",
    "https://a.example",
  ],
  [{ policy: "allow", allowed: "" }, null, "*"],
];
for (const [policy, old, ancestors] of frames) {
  Deno.test(`addCommonHeaders() sends the frame policy ${policy.policy} in both headers`, () => {
    const headers = headersOf({ frames: policy });
    assert.equal(headers.get("X-Frame-Options"), old);
    assert.equal(headers.get("Content-Security-Policy"), `default-src 'none'; frame-ancestors ${ancestors}`);
  });
}

Deno.test("addCommonHeaders() lists Authorization and the exposed headers in a preflight answer", () => {
  const cors = {
    origins: ["https://a.example"],
    methods: ["GET", "PUT"],
    requestHeaders: ["*"],
    exposedHeaders: ["etag"],
  };
  const asked = { Origin: "https://a.example", "Access-Control-Request-Method": "PUT" };
  const headers = headersOf({ cors }, asked);
  assert.equal(headers.get("Access-Control-Allow-Origin"), "https://a.example");
  assert.equal(headers.get("Access-Control-Allow-Headers"), "*, Authorization");
  assert.equal(
    headers.get("Access-Control-Expose-Headers"),
    "etag, Retry-After, X-Request-Id, Content-Range",
  );
  assert.equal(headers.get("Vary"), "Origin");
  const other = headersOf({ cors }, { ...asked, Origin: "https://b.example" });
  assert.equal(other.get("Access-Control-Allow-Origin"), null);
  assert.equal(other.get("Vary"), "Origin");
});
