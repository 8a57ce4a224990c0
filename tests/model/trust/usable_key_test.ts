import assert from "node:assert/strict";
import { X509Certificate } from "node:crypto";
import { trustedIssuerOf } from "../../../src/authentication/issued_token/issuer.ts";
import { mayUse } from "../../../src/authentication/unity/signed_element.ts";
import { usableKeyOf } from "../../../src/model/trust/usable_key.ts";
import { createAuthority } from "../../pki/authority.ts";

const FIXTURES = new URL("../fixtures/", import.meta.url);
const text = (bits: number) => Deno.readTextFileSync(new URL(`rsa_${bits}_ca.pem`, FIXTURES));

Deno.test("usableKeyOf() finds keys with which signatures can be verified here", () => {
  for (const keyType of ["rsa-2048", "ec-p256"] as const) {
    const { certificate } = createAuthority({ subject: "CN=A", keyType });
    assert(usableKeyOf(new X509Certificate(certificate)) !== undefined);
  }
  for (const bits of [5120, 8192]) assert.equal(usableKeyOf(new X509Certificate(text(bits))), undefined);
});

Deno.test("an issuer of tokens, or a signer of assertions, with an RSA key above 4096 bits is refused clearly", () => {
  assert.throws(
    () => trustedIssuerOf(text(5120)),
    /the key of CN=.* signs no tokens: .* RSA with 2048 to 4096 bits/,
  );
  const signer = new X509Certificate(text(8192));
  assert.equal(mayUse(signer, { keyType: "rsa", hash: "sha256" }), false);
});
