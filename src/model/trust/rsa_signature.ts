import { Buffer } from "node:buffer";
import { hash as digest } from "node:crypto";

/** RSA public key. */
export interface RsaPublicKey {
  readonly modulus: bigint;
  readonly length: number; // bytes of the modulus
  readonly exponent: number;
}

/** DigestInfo prefix by hash (RFC 8017, 9.2). */
const HASHES = {
  sha256: "3031300d060960864801650304020105000420",
  sha384: "3041300d060960864801650304020205000430",
  sha512: "3051300d060960864801650304020305000440",
} as const;
/** Hash name in Node.js. */
export type RsaHash = keyof typeof HASHES;

/** Bytes of the modulus; work grows with its cube. */
const MAX_LENGTH = 1024;
/** Bytes. */
const MAX_EXPONENT_LENGTH = 4;

/** Builds a key from big-endian numbers; `undefined` if it is too long or the exponent insecure. */
export function rsaPublicKey(modulus: Uint8Array, exponent: Uint8Array): RsaPublicKey | undefined {
  const start = modulus.findIndex((byte) => byte !== 0);
  const length = start < 0 ? 0 : modulus.length - start;
  if (length === 0 || length > MAX_LENGTH || exponent.length === 0) return undefined;
  if (exponent.length > MAX_EXPONENT_LENGTH) return undefined;
  const value = Buffer.from(exponent).readUIntBE(0, exponent.length);
  return value < 3 || value % 2 === 0 ? undefined : { modulus: toNumber(modulus), length, exponent: value };
}

/**
 * Verifies RSASSA-PKCS1-v1_5 (RFC 8017, 8.2.2) by comparing the whole encoded message. The runtime takes four times as
 * long and rejects keys above 4096 bits.
 */
export function isRsaSignature(
  hash: RsaHash,
  content: Uint8Array,
  { signature, key: { modulus, length, exponent } }: {
    readonly signature: Uint8Array;
    readonly key: RsaPublicKey;
  },
): boolean {
  const info = HASHES[hash] + digest(hash, content, "hex");
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
