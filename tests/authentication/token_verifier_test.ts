import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import { parseSignedToken } from "../../src/authentication/signed_token.ts";
import { TokenVerifier } from "../../src/authentication/jws_signature.ts";
import { signToken } from "./sign_token.ts";

const own = generateKeyPairSync("ed25519");
const other = generateKeyPairSync("ed25519");
const token = parseSignedToken(
  signToken({ claims: { sub: "ann", exp: 4_000_000_000 }, key: own.privateKey }),
);
const second = parseSignedToken(
  signToken({ claims: { sub: "ben", exp: 4_000_000_000 }, key: own.privateKey }),
);

Deno.test("TokenVerifier remembers a valid signature for its token and key, and no invalid one", async () => {
  const verifier = new TokenVerifier();
  // The third argument identifies the key. A wrong key with the same identifier shows what is remembered.
  assert.equal(await verifier.isSignedBy(token, other.publicKey, "key"), false);
  assert.equal(await verifier.isSignedBy(token, own.publicKey, "key"), true);
  assert.equal(await verifier.isSignedBy(token, other.publicKey, "key"), true, "remembered");
  assert.equal(await verifier.isSignedBy(token, other.publicKey, "another key"), false);
  assert.equal(await verifier.isSignedBy(second, other.publicKey, "key"), false);
});

Deno.test("TokenVerifier verifies a signature once for simultaneous callers", async () => {
  const verifier = new TokenVerifier();
  const asked = [own, other, other].map(({ publicKey }) => verifier.isSignedBy(token, publicKey, "key"));
  assert.deepEqual(await Promise.all(asked), [true, true, true]);
});
