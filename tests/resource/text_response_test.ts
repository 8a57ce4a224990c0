import assert from "node:assert/strict";
import { emptyResponse } from "../../src/resource/text_response.ts";

Deno.test("emptyResponse() has no Content-Length with status 204 (RFC 9110, 8.6)", () => {
  const lengthOf = (status?: number) => emptyResponse({ status }).headers.get("Content-Length");
  assert.deepEqual([undefined, 201, 303].map(lengthOf), ["0", "0", "0"]);
  assert.equal(lengthOf(204), null);
});
