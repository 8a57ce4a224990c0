import { Buffer } from "node:buffer";
import { createHash, verify, type X509Certificate } from "node:crypto";
import { type DerElement, readElement } from "../der_element.ts";

/** Whether a certificate's signature is of another's key. Never throws, whatever they hold. */
export function isSignedBy(certificate: X509Certificate, issuer: X509Certificate): boolean {
  try {
    return certificate.verify(issuer.publicKey);
  } catch {
    // Deno 2.9.6 reads no RSA keys above 4096 bits.
    try {
      return isSignedByRsa(certificate.raw, issuer.raw);
    } catch {
      return false;
    }
  }
}

/** ECDSA and EdDSA by signature algorithm, and the hash; `null`: it has its own. */
const OTHER_ALGORITHMS: ReadonlyMap<string, string | null> = new Map([
  ["2a8648ce3d040302", "sha256"],
  ["2a8648ce3d040303", "sha384"],
  ["2a8648ce3d040304", "sha512"],
  ["2b6570", null],
]);

/**
 * Whether a certificate's key signed a revocation list, with an algorithm that is still good. Never throws.
 * @param list DER (RFC 5280, 5.1).
 */
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

/** Longest modulus in bytes: work grows with its cube. */
const MAX_MODULUS = 1024;

/** Hashes by signature algorithm, RSASSA-PKCS1-v1_5, with the head of their DigestInfo (RFC 8017, 9.2). */
const HASHES: ReadonlyMap<string, readonly [name: string, head: string]> = new Map([
  ["2a864886f70d01010b", ["sha256", "3031300d060960864801650304020105000420"]],
  ["2a864886f70d01010c", ["sha384", "3041300d060960864801650304020205000430"]],
  ["2a864886f70d01010d", ["sha512", "3051300d060960864801650304020305000440"]],
]);

/** RFC 8017, 8.2.2. */
function isSignedByRsa(certificate: Uint8Array, issuer: Uint8Array): boolean {
  const [signed, algorithm, signature] = readElement(certificate).children();
  const key = publicKeyOf(issuer);
  const [name, head] = HASHES.get(idOf(algorithm)) ?? [];
  if (signed === undefined || signature === undefined || key === undefined || name === undefined) {
    return false;
  }
  const { modulus, exponent } = key;
  const sealed = signature.content.subarray(1);
  if (sealed.length !== modulus.length) return false;
  const opened = power(toNumber(sealed), exponent, toNumber(modulus));
  const digest = Buffer.concat([
    Buffer.from(head ?? "", "hex"),
    createHash(name).update(signed.whole).digest(),
  ]);
  const padding = Buffer.alloc(modulus.length - digest.length - 3, 0xff);
  return opened === toNumber(Buffer.concat([Buffer.of(0, 1), padding, Buffer.of(0), digest]));
}

function publicKeyOf(
  certificate: Uint8Array,
): { readonly modulus: Buffer; readonly exponent: number } | undefined {
  const fields = readElement(certificate).child(0).children();
  const info = fields[fields[0]?.tag === 0xa0 ? 6 : 5];
  const [algorithm, bits] = info === undefined ? [] : info.children();
  if (idOf(algorithm) !== RSA || bits === undefined) return undefined;
  const [modulus, exponent] = readElement(bits.content.subarray(1)).children().map(({ content }) => content);
  if (modulus === undefined || exponent === undefined || exponent.length > 4) return undefined;
  const significant = modulus[0] === 0 ? modulus.subarray(1) : modulus;
  if (significant.length > MAX_MODULUS) return undefined;
  return { modulus: significant, exponent: exponent.readUIntBE(0, exponent.length) };
}

function idOf(algorithm: DerElement | undefined): string {
  const [id] = algorithm === undefined ? [] : algorithm.children();
  return id?.content.toString("hex") ?? "";
}

function toNumber(bytes: Uint8Array): bigint {
  return BigInt(`0x${Buffer.from(bytes).toString("hex")}`);
}

function power(base: bigint, exponent: number, modulus: bigint): bigint {
  let result = 1n;
  for (const bit of exponent.toString(2)) {
    result = result * result % modulus;
    if (bit === "1") result = result * base % modulus;
  }
  return result;
}
