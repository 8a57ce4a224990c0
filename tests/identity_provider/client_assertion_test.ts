import assert from "node:assert/strict";
import { ClientAssertions } from "./client_assertion.ts";
import { createSigner } from "./token_issuer.ts";

const NOW = 1_700_000_000;
const AUDIENCE = "https://idp.example.org";
const signer = createSigner("ES256", "k1");
const good = { iss: "portal", sub: "portal", aud: AUDIENCE, jti: "x".repeat(16), iat: NOW, exp: NOW + 60 };

const form = (assertion: string, more: Readonly<Record<string, string>> = {}) =>
  new URLSearchParams({
    client_id: "portal",
    client_assertion_type: "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
    client_assertion: assertion,
    ...more,
  });
const fault = (given: URLSearchParams, provider = assertions()) => provider.fault(given, NOW);
const assertions = () => new ClientAssertions({ ...signer, id: "portal" }, AUDIENCE);

const CLAIMS: readonly (readonly [fault: string, claims: Readonly<Record<string, unknown>>])[] = [
  ["iss", { iss: "stranger" }],
  ["sub", { sub: "stranger" }],
  ["sub", { sub: undefined }],
  ["aud", { aud: `${AUDIENCE}/token` }],
  ["aud", { aud: [AUDIENCE, "https://other.example.org"] }],
  ["exp", { exp: NOW }],
  ["exp", { exp: NOW + 3600 }],
  ["exp", { exp: undefined }],
  ["iat", { iat: NOW + 60 }],
  ["jti", { jti: undefined }],
  ["jti", { jti: "1" }],
];
for (const [expected, claims] of CLAIMS) {
  Deno.test(`the test provider refuses an assertion with ${Deno.inspect(claims)}`, () => {
    assert.equal(fault(form(signer.sign({ ...good, ...claims }))), expected);
  });
}

Deno.test("the test provider accepts an assertion by the client's key once, and no other", () => {
  const provider = assertions();
  assert.equal(fault(form(signer.sign(good)), provider), undefined);
  assert.equal(fault(form(signer.sign(good)), provider), "jti again");
  assert.equal(fault(form(createSigner("ES256", "k1").sign(good))), "signature");
  assert.equal(fault(form(signer.sign(good, { alg: "none" }))), "alg");
  assert.equal(fault(form(signer.sign(good, { kid: "k2" }))), "kid");
  assert.equal(fault(form(`${signer.sign(good)}.x`)), "form");
  assert.equal(fault(form("")), "form");
  assert.equal(fault(form(signer.sign(good), { client_secret: "x" })), "a secret as well");
  assert.equal(fault(form(signer.sign(good), { client_id: "stranger" })), "client_id");
  assert.equal(fault(form(signer.sign(good), { client_assertion_type: "x" })), "client_assertion_type");
});
