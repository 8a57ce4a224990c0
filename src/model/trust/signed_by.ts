import { attempt } from "../attempt.ts";
import { hash as digest, verify, type X509Certificate } from "node:crypto";
import { type DerElement, readElement } from "../der_element.ts";
import { Buffer } from "node:buffer";

/** Reports whether a certificate is signed with another's key. Never throws. */
export function isSignedBy(certificate: X509Certificate, issuer: X509Certificate): boolean {
  // Deno 2.9.6 rejects RSA keys above 4096 bits.
  const fallback = () => attempt(() => isSignedByRsa(certificate.raw, issuer.raw), Error, () => false);
  return attempt(() => certificate.verify(issuer.publicKey), Error, fallback);
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

export interface RsaPublicKey {
  readonly modulus: bigint;
  readonly length: number; // bytes of the modulus
  readonly exponent: number;
}

/** DigestInfo prefix by hash (RFC 8017, 9.2). */
const DIGEST_PREFIXES = {
  sha256: "3031300d060960864801650304020105000420",
  sha384: "3041300d060960864801650304020205000430",
  sha512: "3051300d060960864801650304020305000440",
} as const;
/** Hash name in Node.js. */
export type RsaHash = keyof typeof DIGEST_PREFIXES;

const MAX_LENGTH = 1024; // bytes of the modulus; work grows with its cube
const MAX_EXPONENT_LENGTH = 4; // bytes

/** Builds a key from big-endian numbers; `undefined` if it is too long or the exponent insecure. */
export function rsaPublicKey(modulus: Uint8Array, exponent: Uint8Array): RsaPublicKey | undefined {
  const start = modulus.findIndex((byte) => byte !== 0);
  const length = start < 0 ? 0 : modulus.length - start;
  if (length === 0 || length > MAX_LENGTH || exponent.length === 0) return undefined;
  if (exponent.length > MAX_EXPONENT_LENGTH) return undefined;
  const value = Buffer.from(exponent).readUIntBE(0, exponent.length);
  return value < 3 || value % 2 === 0 ? undefined : { modulus: toNumber(modulus), length, exponent: value };
}

/** Verifies RSASSA-PKCS1-v1_5 (RFC 8017, 8.2.2): the runtime takes four times as long and rejects keys above 4096 bits. */
export function isRsaSignature(
  hash: RsaHash,
  content: Uint8Array,
  { signature, key: { modulus, length, exponent } }: {
    readonly signature: Uint8Array;
    readonly key: RsaPublicKey;
  },
): boolean {
  const info = DIGEST_PREFIXES[hash] + digest(hash, content, "hex");
  const padding = length - info.length / 2 - 3;
  const sealed = signature.length === length ? toNumber(signature) : modulus;
  if (sealed >= modulus || padding < 8) return false;
  return power(sealed, exponent, modulus) === BigInt(`0x0001${"ff".repeat(padding)}00${info}`);
}

function toNumber(bytes: Uint8Array): bigint {
  return BigInt(`0x${bytes.toHex()}`);
}

function power(base: bigint, exponent: number, modulus: bigint): bigint {
  let result = 1n;
  for (const bit of exponent.toString(2)) {
    result = result * result % modulus;
    if (bit === "1") result = result * base % modulus;
  }
  return result;
}
