import { Buffer } from "node:buffer";
import { constants, createHmac, type KeyObject, sign } from "node:crypto";

/** Parts of a token. Texts go into it unchanged, so that a token can be wrong in any way. */
export interface TokenParts {
  readonly header?: unknown;
  readonly claims: unknown;
  readonly key: KeyObject;
  /** Algorithm of the signature; default: the algorithm in the header. */
  readonly signWith?: string;
}

/** Returns a compact token with a real signature, made without the library under test. */
export function signToken({ header = { alg: "EdDSA" }, claims, key, signWith }: TokenParts): string {
  const text = `${part(header)}.${part(claims)}`;
  const algorithm = signWith ?? algorithmOf(header);
  return `${text}.${signature(algorithm, Buffer.from(text), key).toString("base64url")}`;
}

function part(value: unknown): string {
  return Buffer.from(typeof value === "string" ? value : JSON.stringify(value)).toString("base64url");
}

function algorithmOf(header: unknown): string {
  if (typeof header === "object" && header !== null && "alg" in header) return String(header.alg);
  throw new TypeError("say what to sign with");
}

function signature(algorithm: string, data: Buffer, key: KeyObject): Buffer {
  const hash = `sha${algorithm.slice(2)}`;
  switch (algorithm.slice(0, 2)) {
    case "RS":
      return sign(hash, data, key);
    case "PS":
      return sign(hash, data, {
        key,
        padding: constants.RSA_PKCS1_PSS_PADDING,
        saltLength: constants.RSA_PSS_SALTLEN_DIGEST,
      });
    case "ES":
      return sign(hash, data, { key, dsaEncoding: "ieee-p1363" });
    case "Ed":
      return sign(null, data, key);
    case "HS":
      return createHmac(hash, key).update(data).digest();
    default:
      return Buffer.alloc(0);
  }
}
