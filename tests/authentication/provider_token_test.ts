import assert from "node:assert/strict";
import { tokenForProvider } from "../../src/authentication/parse_credentials.ts";
import { basic, bearer, bound } from "./sample_credentials.ts";

Deno.test("tokenForProvider() gives a token with a proof of possession only to an authenticator that verifies proofs", () => {
  assert.equal(tokenForProvider(bound("opaque", undefined), { bound: true }), "opaque");
  assert.deepEqual(tokenForProvider(bound("opaque", undefined), { bound: false }), {
    kind: "skipped",
    reason: "proofs of possession are not verified",
  });
  for (const options of [{ bound: true }, { bound: false }]) {
    assert.equal(tokenForProvider(bearer("opaque"), options), "opaque");
    assert.deepEqual(tokenForProvider(basic("ann", "sesame"), options), { kind: "skipped" });
  }
});
