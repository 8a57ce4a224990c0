import { Buffer } from "node:buffer";
import { type KeyObject, sign } from "node:crypto";
import { UnusablePrivateKey } from "./private_key.ts";

/** Seconds, as clients use. */
const LIFETIME = 300;

/** Algorithm and digest by curve (RFC 7518, 3.4). */
const CURVES: ReadonlyMap<string | undefined, readonly [algorithm: string, digest: string]> = new Map([
  ["prime256v1", ["ES256", "sha256"]],
  ["secp384r1", ["ES384", "sha384"]],
  ["secp521r1", ["ES512", "sha512"]],
]);

/**
 * Returns a token signed with a user's key, as clients create it (authentication.md 3.7). @throws {UnusablePrivateKey} If
 * the key type signs no tokens.
 */
export function signToken(user: string, key: KeyObject, now: number): string {
  const [algorithm, digest] = algorithmOf(key);
  const issued = Math.floor(now / 1000);
  const claims = { sub: user, iss: user, iat: issued, exp: issued + LIFETIME };
  const content = `${encode({ alg: algorithm })}.${encode(claims)}`;
  const signature = sign(digest ?? null, Buffer.from(content), { key, dsaEncoding: "ieee-p1363" });
  return `${content}.${signature.toString("base64url")}`;
}

function algorithmOf(key: KeyObject): readonly [algorithm: string, digest?: string] {
  switch (key.asymmetricKeyType) {
    case "rsa":
      return ["RS256", "sha256"];
    case "ed25519":
      return ["EdDSA"];
    default: {
      const found = CURVES.get(key.asymmetricKeyDetails?.namedCurve);
      if (found !== undefined) return found;
      throw new UnusablePrivateKey("expected an RSA, ECDSA (P-256, P-384, P-521) or Ed25519 key");
    }
  }
}

function encode(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString("base64url");
}
