import { createPublicKey, generateKeyPairSync, type KeyObject, randomBytes } from "node:crypto";
import type { SshKeyType } from "./public_key.ts";

const KEYS = new Map<SshKeyType, KeyObject>();

/**
 * A key whose other half nobody has. What was signed for an unknown user is verified under it, so that an unknown user
 * costs the same work as a known one with another key.
 */
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
      // Any odd number of the usual 3072 bits costs what a product of two primes does, and is made at once.
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
