import { onError } from "../model/attempt.ts";
import { Buffer } from "node:buffer";
import { type KeyObject, verify } from "node:crypto";
import { isRsaSignature, type RsaHash, type RsaPublicKey, rsaPublicKey } from "../model/trust/signed_by.ts";
import { BoundedMap } from "../model/bounded_map.ts";
import { SingleFlight } from "../model/single_flight.ts";
import { MIN_RSA_BITS } from "../model/trust/certificate_facts.ts";
import type { SignedToken } from "./signed_token.ts";

/** RSASSA-PKCS1-v1_5 (RFC 7518, 3.3). */
const RSA: ReadonlyMap<string, RsaHash> = new Map([["RS256", "sha256"], ["RS384", "sha384"], [
  "RS512",
  "sha512",
]]);
const ED25519: ReadonlySet<string> = new Set(["EdDSA", "Ed25519"]); // RFC 8037, 3.1; RFC 9864, 2.2

const UTF8 = new TextEncoder();

const NUMBERS = new WeakMap<KeyObject, RsaPublicKey>(); // parsed keys: parsing costs as much as verifying

/**
 * Verifies a well-formed JWS (RFC 7515, 5.2). Web Cryptography is four times slower for RSA and Ed25519.
 * @throws {JOSEError} If the key does not fit the algorithm.
 */
export async function isSignedBy(
  { text, algorithm }: { readonly text: string; readonly algorithm: string },
  key: KeyObject,
): Promise<boolean> {
  const hash = RSA.get(algorithm);
  const numbers = hash && numbersOf(key);
  if (hash !== undefined && numbers !== undefined) {
    return isRsaSignature(hash, contentOf(text), { signature: signatureOf(text), key: numbers });
  }
  if (ED25519.has(algorithm) && key.asymmetricKeyType === "ed25519") {
    return verify(null, contentOf(text), key, signatureOf(text));
  }
  const { compactVerify, errors } = await import("jose");
  const verified = compactVerify(text, key, { algorithms: [algorithm] });
  return await verified.then(() => true, onError(errors.JWSSignatureVerificationFailed, () => false));
}

function contentOf(text: string): Uint8Array {
  return UTF8.encode(text.slice(0, text.lastIndexOf(".")));
}

function signatureOf(text: string): Buffer {
  return Buffer.from(text.slice(text.lastIndexOf(".") + 1), "base64url");
}

/** Returns an RSA key's numbers; `undefined` for keys left to the library, which reports errors. */
function numbersOf(key: KeyObject): RsaPublicKey | undefined {
  if (key.type !== "public" || key.asymmetricKeyType !== "rsa") return undefined;
  const known = NUMBERS.get(key);
  if (known !== undefined) return known;
  const { n = "", e = "" } = key.export({ format: "jwk" });
  const numbers = rsaPublicKey(Buffer.from(n, "base64url"), Buffer.from(e, "base64url"));
  if (numbers === undefined || 8 * numbers.length < MIN_RSA_BITS) return undefined;
  NUMBERS.set(key, numbers);
  return numbers;
}

const NEVER = new AbortController().signal; // verifying is too quick to cancel

/** Caches valid signatures by key, not failures; whether key and token are acceptable is checked elsewhere. */
export class TokenVerifier {
  readonly #right = new BoundedMap<string, true>(20_000);
  readonly #running = new SingleFlight<boolean>();

  /** Verifies a signature; the caller has bound the algorithm to the key. @param fingerprint Unique to the key. */
  async isSignedBy(token: SignedToken, key: KeyObject, fingerprint: string): Promise<boolean> {
    const id = `${token.digest} ${fingerprint}`;
    if (this.#right.get(id)) return true;
    const right = await this.#running.join(id, () => isSignedBy(token, key), NEVER);
    if (right) this.#right.set(id, true);
    return right;
  }
}
