import { createPublicKey, generateKeyPairSync, type KeyObject, randomBytes } from "node:crypto";
import type { SshKeyType } from "./public_key.ts";

const KEYS = new Map<SshKeyType, KeyObject>();

/** Returns a public key without a private one, so that unknown users cost the same work as known ones. */
export function nobodysKey(type: SshKeyType): KeyObject {
  const key = KEYS.get(type) ?? makeKey(type);
  KEYS.set(type, key);
  return key;
}

function makeKey(type: SshKeyType): KeyObject {
  switch (type) {
    case "ssh-ed25519":
      return generateKeyPairSync("ed25519").publicKey;
    case "ecdsa-sha2-nistp256":
      return generateKeyPairSync("ec", { namedCurve: "P-256" }).publicKey;
    case "ecdsa-sha2-nistp384":
      return generateKeyPairSync("ec", { namedCurve: "P-384" }).publicKey;
    case "ecdsa-sha2-nistp521":
      return generateKeyPairSync("ec", { namedCurve: "P-521" }).publicKey;
    case "ssh-rsa": {
      // Any odd 3072-bit number costs the same as a product of two primes.
      const modulus = randomBytes(384);
      modulus[0] = 0x80 | (modulus[0] ?? 0);
      modulus[383] = 1 | (modulus[383] ?? 0);
      return createPublicKey({
        key: { kty: "RSA", e: "AQAB", n: modulus.toString("base64url") },
        format: "jwk",
      });
    }
  }
}
