import { createHash } from "node:crypto";

/** Purpose of derived bytes (RFC 7292, B.3). */
type Purpose = "key" | "iv" | "mac";

const IDS: Readonly<Record<Purpose, number>> = { key: 1, iv: 2, mac: 3 };

function blockSize(digest: string): number {
  return digest === "sha384" || digest === "sha512" ? 128 : 64;
}

/**
 * Derives key material (RFC 7292, B.2).
 * @param password `undefined`: no bytes; empty: the terminating zero only (B.1).
 * @param length In bytes.
 */
export function derivePkcs12(
  { digest, password, salt, iterations, purpose, length }: {
    readonly digest: string;
    readonly password: string | undefined;
    readonly salt: Uint8Array;
    readonly iterations: number;
    readonly purpose: Purpose;
    readonly length: number;
  },
): Uint8Array {
  const block = blockSize(digest);
  const diversifier = new Uint8Array(block).fill(IDS[purpose]);
  const secret = password === undefined ? new Uint8Array() : bmpString(password);
  let input = concat(repeat(salt, block), repeat(secret, block));
  let result = new Uint8Array();
  while (result.length < length) {
    let hash: Uint8Array = concat(diversifier, input);
    for (let round = 0; round < iterations; round++) {
      hash = Uint8Array.from(createHash(digest).update(hash).digest());
    }
    result = concat(result, hash);
    input = addToBlocks(input, repeat(hash, block).subarray(0, block), block);
  }
  return result.subarray(0, length);
}

/** Encodes UTF-16BE with a terminating zero. */
function bmpString(text: string): Uint8Array {
  const bytes = new Uint8Array(2 * text.length + 2);
  const view = new DataView(bytes.buffer);
  for (let index = 0; index < text.length; index++) view.setUint16(2 * index, text.charCodeAt(index));
  return bytes;
}

/** Repeats bytes to fill whole blocks; empty stays empty. */
function repeat(bytes: Uint8Array, block: number): Uint8Array {
  const result = new Uint8Array(Math.ceil(bytes.length / block) * block);
  return result.map((_, index) => bytes[index % bytes.length] ?? 0);
}

/** Adds the summand plus 1 to each block, as big integers. */
function addToBlocks(input: Uint8Array, summand: Uint8Array, block: number): Uint8Array<ArrayBuffer> {
  const result = Uint8Array.from(input);
  for (let start = 0; start < result.length; start += block) {
    let carry = 1;
    for (let index = block - 1; index >= 0; index--) {
      const sum = (result[start + index] ?? 0) + (summand[index] ?? 0) + carry;
      result[start + index] = sum & 0xff;
      carry = sum >> 8;
    }
  }
  return result;
}

function concat(a: Uint8Array, b: Uint8Array): Uint8Array<ArrayBuffer> {
  const joined = new Uint8Array(a.length + b.length);
  joined.set(a);
  joined.set(b, a.length);
  return joined;
}
