import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { createHash, sign } from "node:crypto";
import fc from "fast-check";
import { parseKeyLine } from "../../../src/authentication/ssh_key/authorized_keys.ts";
import {
  isLegacySignedBy,
  LegacyTokenUses,
  readLegacyToken,
} from "../../../src/authentication/ssh_key/key_trial.ts";
import type { SshPublicKey } from "../../../src/authentication/ssh_key/public_key.ts";
import { privateKey, publicLine, wireString } from "./user_keys.ts";

const SIGNED = createHash("sha1").update("nonce").digest();

function publicKey(name: string): SshPublicKey {
  const line = parseKeyLine(publicLine(name));
  assert.equal(line.kind, "key");
  if (line.kind !== "key") throw new TypeError("unreachable");
  return line.key.publicKey;
}

function verifies(name: string, signature: Buffer, signed: Uint8Array = SIGNED): boolean {
  const token = readLegacyToken("ann", signature.toString("base64"), signed);
  return token !== undefined && isLegacySignedBy(token, publicKey(name));
}

/** Returns the SSH form of an ECDSA signature, from its two halves. */
function sshForm(plain: Buffer): Buffer {
  const half = (bytes: Buffer) => {
    const digits = bytes.subarray(bytes.findIndex((byte) => byte !== 0));
    return wireString((digits[0] ?? 0) >= 0x80 ? Buffer.concat([Buffer.alloc(1), digits]) : digits);
  };
  return Buffer.concat([half(plain.subarray(0, plain.length / 2)), half(plain.subarray(plain.length / 2))]);
}

for (
  const [name, hash] of [["user_ecdsa256", "sha256"], ["user_ecdsa384", "sha384"], [
    "user_ecdsa521",
    "sha512",
  ]] as const
) {
  Deno.test(`isLegacySignedBy() reads signatures of ${name} in SSH form and in DER, for all lengths of numbers`, () => {
    const key = privateKey(name);
    for (let i = 0; i < 20; i++) {
      const signed = Buffer.from(`nonce ${i}`);
      const plain = sign(hash, signed, { key, dsaEncoding: "ieee-p1363" });
      assert.ok(verifies(name, sshForm(plain), signed));
      assert.ok(verifies(name, sign(hash, signed, { key, dsaEncoding: "der" }), signed));
      assert.ok(!verifies(name, plain, signed), "the form of JSON Web Signatures is no legacy form");
      assert.ok(!verifies(name, Buffer.concat([sshForm(plain), Buffer.alloc(1)]), signed));
      assert.ok(!verifies(name, sshForm(plain), SIGNED));
    }
  });
}

Deno.test("isLegacySignedBy() verifies RSA only with SHA-1", () => {
  const key = privateKey("user_rsa2048");
  assert.ok(verifies("user_rsa2048", sign("sha1", SIGNED, key)));
  assert.ok(!verifies("user_rsa2048", sign("sha256", SIGNED, key)));
  assert.ok(!verifies("user_rsa2048", sign("sha1", SIGNED, privateKey("user_rsa3072"))));
});

Deno.test("isLegacySignedBy() verifies Ed25519 over the bytes themselves", () => {
  const key = privateKey("user_ed25519");
  assert.ok(verifies("user_ed25519", sign(null, SIGNED, key)));
  assert.ok(verifies("user_ed25519", sign(null, Buffer.from("a nonce"), key), Buffer.from("a nonce")));
  assert.ok(!verifies("other_ed25519", sign(null, SIGNED, key)));
});

Deno.test("readLegacyToken() rejects texts that were signed for another purpose, and oversized ones", () => {
  const signature = sign(null, SIGNED, privateKey("user_ed25519")).toString("base64");
  assert.ok(readLegacyToken("ann", signature, SIGNED));
  const foreign = ["eyJhbGciOiJFZERTQSJ9.eyJzdWIiOiJhbm4ifQ", "SSHSIG....", "", "x".repeat(129)];
  for (const signed of foreign) {
    assert.equal(readLegacyToken("ann", signature, Buffer.from(signed)), undefined, signed);
  }
  for (const text of ["", "AAAA\n", "A", "AAA", "%%%%", "A".repeat(1400)]) {
    assert.equal(readLegacyToken("ann", text, SIGNED), undefined, text);
  }
});

Deno.test("isLegacySignedBy() returns false for any other bytes, and never throws", () => {
  const names = ["user_rsa2048", "user_ecdsa256", "user_ecdsa384", "user_ecdsa521", "user_ed25519"];
  const keys = names.map(publicKey);
  const length = fc.integer({ min: 0, max: 80 }).map((n) => Buffer.from([0x30, n, 2, n >> 1]));
  const bytes = fc.tuple(
    fc.oneof(length, fc.constant(Buffer.alloc(3))),
    fc.uint8Array({ minLength: 1, maxLength: 300 }),
  )
    .map((parts) => Buffer.concat(parts));
  fc.assert(
    fc.property(bytes, fc.constantFrom(...keys), (signature, key) => {
      assert.equal(isLegacySignedBy({ user: "ann", signed: SIGNED, signature }, key), false);
    }),
    { numRuns: 500 },
  );
});

Deno.test("LegacyTokenUses drops the oldest token of a user, but no other user's", () => {
  const uses = new LegacyTokenUses(() => 0);
  const token = (user: string, n: number) => ({
    user,
    signed: Buffer.from(`nonce ${n}`),
    signature: Buffer.alloc(64),
  });
  assert.ok(uses.admit(token("ann", 0), "192.0.2.1"));
  assert.ok(!uses.admit(token("ann", 0), "192.0.2.2"));
  for (let n = 1; n <= 1000; n++) assert.ok(uses.admit(token("bob", n), "192.0.2.1"));
  assert.ok(!uses.admit(token("ann", 0), "192.0.2.2"));
  assert.ok(!uses.admit(token("bob", 1), "192.0.2.2"));
  for (let n = 1001; n <= 2001; n++) assert.ok(uses.admit(token("bob", n), "192.0.2.1"));
  assert.ok(uses.admit(token("bob", 2), "192.0.2.2"));
});
