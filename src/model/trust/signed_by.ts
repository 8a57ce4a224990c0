import { verify, type X509Certificate } from "node:crypto";
import { type DerElement, readElement } from "../der_element.ts";
import { isRsaSignature, type RsaHash, type RsaPublicKey, rsaPublicKey } from "./rsa_signature.ts";

/** Reports whether a certificate is signed with another's key. Never throws. */
export function isSignedBy(certificate: X509Certificate, issuer: X509Certificate): boolean {
  try {
    return certificate.verify(issuer.publicKey);
  } catch {
    // Deno 2.9.6 rejects RSA keys above 4096 bits.
    try {
      return isSignedByRsa(certificate.raw, issuer.raw);
    } catch {
      return false;
    }
  }
}

/** ECDSA and EdDSA hashes by algorithm; `null`: built in. */
const OTHER_ALGORITHMS: ReadonlyMap<string, string | null> = new Map([
  ["2a8648ce3d040302", "sha256"],
  ["2a8648ce3d040303", "sha384"],
  ["2a8648ce3d040304", "sha512"],
  ["2b6570", null],
]);

/** Reports whether a key signed a revocation list (DER; RFC 5280, 5.1) with a secure algorithm. Never throws. */
export function isListSignedBy(list: Uint8Array, issuer: X509Certificate): boolean {
  try {
    const [signed, algorithm, signature] = readElement(list).children();
    const hash = OTHER_ALGORITHMS.get(idOf(algorithm));
    if (hash === undefined) return isSignedByRsa(list, issuer.raw);
    if (signed === undefined || signature === undefined) return false;
    return verify(hash, signed.whole, issuer.publicKey, signature.content.subarray(1));
  } catch {
    return false;
  }
}

const RSA = "2a864886f70d010101";

/** RSASSA-PKCS1-v1_5 by signature algorithm. */
const HASHES: ReadonlyMap<string, RsaHash> = new Map([
  ["2a864886f70d01010b", "sha256"],
  ["2a864886f70d01010c", "sha384"],
  ["2a864886f70d01010d", "sha512"],
]);

function isSignedByRsa(certificate: Uint8Array, issuer: Uint8Array): boolean {
  const [signed, algorithm, signature] = readElement(certificate).children();
  const key = publicKeyOf(issuer);
  const hash = HASHES.get(idOf(algorithm));
  if (signed === undefined || signature === undefined || key === undefined || hash === undefined) {
    return false;
  }
  return isRsaSignature(hash, signed.whole, { signature: signature.content.subarray(1), key });
}

function publicKeyOf(certificate: Uint8Array): RsaPublicKey | undefined {
  const fields = readElement(certificate).child(0).children();
  const info = fields[fields[0]?.tag === 0xa0 ? 6 : 5];
  const [algorithm, bits] = info === undefined ? [] : info.children();
  if (idOf(algorithm) !== RSA || bits === undefined) return undefined;
  const [modulus, exponent] = readElement(bits.content.subarray(1)).children().map(({ content }) => content);
  return modulus === undefined || exponent === undefined ? undefined : rsaPublicKey(modulus, exponent);
}

function idOf(algorithm: DerElement | undefined): string {
  const [id] = algorithm === undefined ? [] : algorithm.children();
  return id?.content.toString("hex") ?? "";
}
