import { Buffer } from "node:buffer";
import { hash as digest } from "node:crypto";

/** A public key of RSA. */
export interface RsaPublicKey {
  readonly modulus: bigint;
  /** Of the modulus, in bytes. */
  readonly length: number;
  readonly exponent: number;
}

/** Hashes by name, with the head of their DigestInfo (RFC 8017, 9.2). */
const HASHES = {
  sha256: "3031300d060960864801650304020105000420",
  sha384: "3041300d060960864801650304020205000430",
  sha512: "3051300d060960864801650304020305000440",
} as const;
/** Name of a hash as Node.js has it. */
export type RsaHash = keyof typeof HASHES;

/** Longest modulus in bytes: work grows with its cube. */
const MAX_LENGTH = 1024;
/** Longest exponent in bytes. */
const MAX_EXPONENT_LENGTH = 4;

/**
 * A public key of its numbers, big end first.
 * @returns `undefined` for one that is not verified with: too long, or with an exponent by which nothing is secret.
 */
export function rsaPublicKey(modulus: Uint8Array, exponent: Uint8Array): RsaPublicKey | undefined {
  const start = modulus.findIndex((byte) => byte !== 0);
  const length = start < 0 ? 0 : modulus.length - start;
  if (length === 0 || length > MAX_LENGTH || exponent.length === 0) return undefined;
  if (exponent.length > MAX_EXPONENT_LENGTH) return undefined;
  const value = Buffer.from(exponent).readUIntBE(0, exponent.length);
  return value < 3 || value % 2 === 0 ? undefined : { modulus: toNumber(modulus), length, exponent: value };
}

/**
 * Whether a signature by RSASSA-PKCS1-v1_5 is right (RFC 8017, 8.2.2): what it holds is compared with the one thing that
 * it may hold, and not taken apart. The runtime needs four times as long, and reads no keys above 4096 bits.
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
