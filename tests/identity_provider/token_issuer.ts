import { Buffer } from "node:buffer";
import { generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import type { JWK } from "jose";
import { rsa2048 } from "../pki/signing_key.ts";

/** Signing algorithms of test issuers. */
export type SigningAlgorithm = "RS256" | "PS256" | "ES256" | "ES384" | "EdDSA";

/** Signer of tokens, written by hand, so that it also signs tokens that a library would refuse. */
export interface TokenSigner {
  readonly kid: string;
  readonly alg: SigningAlgorithm;
  /** Public key in the form of a key set. */
  readonly jwk: JWK;
  readonly publicKey: KeyObject;
  readonly privateKey: KeyObject;
  /** @param header Additional members, or replacements for `alg` and `kid`. */
  sign(claims: unknown, header?: Readonly<Record<string, unknown>>): string;
  /** Signs any texts as header and claims. */
  signRaw(header: string | Uint8Array, claims: string | Uint8Array): string;
}

export function createSigner(alg: SigningAlgorithm, kid: string, { bits = 2048 } = {}): TokenSigner {
  const { publicKey, privateKey } = keyPair(alg, bits);
  const signRaw = (header: string | Uint8Array, claims: string | Uint8Array) => {
    const content = `${encode(header)}.${encode(claims)}`;
    return `${content}.${encode(signature(alg, content, privateKey))}`;
  };
  const jwk: JWK = { ...publicJwk(publicKey), kid, alg, use: "sig" };
  return {
    kid,
    alg,
    jwk,
    publicKey,
    privateKey,
    sign: (claims, header) => signRaw(JSON.stringify({ alg, kid, ...header }), JSON.stringify(claims)),
    signRaw,
  };
}

/** Encodes one part of a token. */
export function encode(part: string | Uint8Array): string {
  return Buffer.from(part).toString("base64url");
}

function keyPair(alg: SigningAlgorithm, bits: number): { publicKey: KeyObject; privateKey: KeyObject } {
  if (alg === "EdDSA") return generateKeyPairSync("ed25519");
  if (alg === "ES256") return generateKeyPairSync("ec", { namedCurve: "P-256" });
  if (alg === "ES384") return generateKeyPairSync("ec", { namedCurve: "P-384" });
  return bits === 2048 ? rsa2048() : generateKeyPairSync("rsa", { modulusLength: bits });
}

function publicJwk(key: KeyObject): JWK {
  const { kty, ...members } = key.export({ format: "jwk" });
  if (kty === undefined) throw new TypeError("no JWK");
  return { kty, ...members };
}

function signature(alg: SigningAlgorithm, content: string, key: KeyObject): Uint8Array {
  const bytes = Buffer.from(content);
  if (alg === "EdDSA") return sign(null, bytes, key);
  if (alg === "RS256") return sign("sha256", bytes, key);
  if (alg === "PS256") return sign("sha256", bytes, { key, padding: 6, saltLength: 32 });
  return sign(alg === "ES256" ? "sha256" : "sha384", bytes, { key, dsaEncoding: "ieee-p1363" });
}
