import { Buffer } from "node:buffer";
import { createHash, type KeyObject, verify, type X509Certificate } from "node:crypto";
import { usableKeyOf } from "../../model/trust/usable_key.ts";

/** Signature method (RFC 9231 section 2.3). */
interface SignatureMethod {
  readonly keyType: "rsa" | "ec";
  readonly hash: "sha256" | "sha384" | "sha512";
}

/** Accepted methods: RSA (PKCS#1 v1.5) and ECDSA with SHA-256 or better; no SHA-1, DSA or HMAC. */
export const SIGNATURE_METHODS: ReadonlyMap<string, SignatureMethod> = new Map([
  ["http://www.w3.org/2001/04/xmldsig-more#rsa-sha256", { keyType: "rsa", hash: "sha256" }],
  ["http://www.w3.org/2001/04/xmldsig-more#rsa-sha384", { keyType: "rsa", hash: "sha384" }],
  ["http://www.w3.org/2001/04/xmldsig-more#rsa-sha512", { keyType: "rsa", hash: "sha512" }],
  ["http://www.w3.org/2001/04/xmldsig-more#ecdsa-sha256", { keyType: "ec", hash: "sha256" }],
  ["http://www.w3.org/2001/04/xmldsig-more#ecdsa-sha384", { keyType: "ec", hash: "sha384" }],
  ["http://www.w3.org/2001/04/xmldsig-more#ecdsa-sha512", { keyType: "ec", hash: "sha512" }],
]);

/** Accepted digests; no SHA-1. */
export const DIGEST_METHODS: ReadonlyMap<string, SignatureMethod["hash"]> = new Map([
  ["http://www.w3.org/2001/04/xmlenc#sha256", "sha256"],
  ["http://www.w3.org/2001/04/xmldsig-more#sha384", "sha384"],
  ["http://www.w3.org/2001/04/xmlenc#sha512", "sha512"],
]);

const CURVES: ReadonlySet<unknown> = new Set([
  "prime256v1",
  "P-256",
  "secp384r1",
  "P-384",
  "secp521r1",
  "P-521",
]);
const MIN_RSA_BITS = 2048;

/** Reports whether a certificate's key fits a method. */
export function mayUse(certificate: X509Certificate, { keyType }: SignatureMethod): boolean {
  const key = usableKeyOf(certificate);
  if (key?.asymmetricKeyType !== keyType) return false;
  const { asymmetricKeyDetails } = key;
  return keyType === "rsa"
    ? (asymmetricKeyDetails?.modulusLength ?? 0) >= MIN_RSA_BITS
    : CURVES.has(asymmetricKeyDetails?.namedCurve);
}

/** Returns digest classes for the signature library. */
export function digestClasses() {
  return Object.fromEntries(
    Array.from(DIGEST_METHODS, ([uri, hash]) => [
      uri,
      class {
        getAlgorithmName = () => uri;
        getHash = (xml: string) => createHash(hash).update(xml, "utf8").digest("base64");
      },
    ]),
  );
}

/** Returns a verify-only class for the signature library, bound to one key. */
export function signatureClass(uri: string, { keyType, hash }: SignatureMethod, publicKey: KeyObject) {
  return class {
    getAlgorithmName = () => uri;
    getSignature = (): string => {
      throw new TypeError("signatures are verified here, not made");
    };
    verifySignature = (material: string, _key: unknown, value: string): boolean => {
      const signature = Buffer.from(value, "base64");
      // XML signatures concatenate r and s (RFC 9231 section 2.3.6) instead of DER.
      const key = keyType === "rsa" ? publicKey : { key: publicKey, dsaEncoding: "ieee-p1363" as const };
      return verify(hash, Buffer.from(material, "utf8"), key, signature);
    };
  };
}
