import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import { privateKeyOfDer } from "../../../src/config/tls/private_key.ts";
import { UnusableStore } from "../../../src/config/tls/certificates.ts";
import { rsa2048 } from "../../pki/signing_key.ts";

const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
const rsa = rsa2048().privateKey;
const der = (type: "pkcs8" | "sec1") => privateKey.export({ format: "der", type });
const encrypted = privateKey.export({
  format: "der",
  type: "pkcs8",
  cipher: "aes-256-cbc",
  passphrase: "secret",
});

Deno.test("privateKeyOfDer() reads PKCS#8 with and without a password, PKCS#1 and SEC 1", () => {
  for (const type of ["pkcs8", "sec1"] as const) {
    assert(privateKeyOfDer(der(type), undefined).equals(privateKey), type);
  }
  assert(privateKeyOfDer(encrypted, "secret").equals(privateKey));
  assert(privateKeyOfDer(rsa.export({ format: "der", type: "pkcs1" }), undefined).equals(rsa));
});

for (
  const [what, bytes, password, expected] of [
    ["no key", Uint8Array.of(1, 2, 3), undefined, "expected a private key in DER form"],
    ["a wrong password", encrypted, "wrong", "expected a private key in DER form and its right password"],
    ["an encrypted key without password", encrypted, undefined, "expected a private key in DER form"],
  ] as const
) {
  Deno.test(`privateKeyOfDer() refuses ${what}`, () => {
    assert.throws(
      () => privateKeyOfDer(bytes, password),
      (error) => error instanceof UnusableStore && error.message === expected,
    );
  });
}
