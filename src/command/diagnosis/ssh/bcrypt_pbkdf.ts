import { createHash } from "node:crypto";
import { Blowfish, wordsOf } from "./blowfish.ts";

/** What is encrypted over and over: 32 bytes. */
const MAGIC = "OxychromaticBlowfishSwatDynamite";
const BLOCK = MAGIC.length;

/**
 * Derives a key from a passphrase as OpenSSH does for private keys (OpenBSD's `bcrypt_pbkdf`): PBKDF2 with bcrypt in
 * the place of HMAC, and the bytes of the blocks interleaved.
 * @param length Of the key, in bytes; from 1 to 1024.
 * @param rounds From 1; each takes about 5 ms per 32 bytes of key.
 */
export function bcryptPbkdf(
  passphrase: Uint8Array,
  { salt, rounds, length }: { readonly salt: Uint8Array; readonly rounds: number; readonly length: number },
): Uint8Array {
  const blocks = Math.ceil(length / BLOCK);
  const key = new Uint8Array(length);
  const hashedPassphrase = sha512(passphrase);
  for (let block = 0; block < blocks; block++) {
    const bytes = deriveBlock(hashedPassphrase, salt, rounds, block + 1);
    for (const [i, byte] of bytes.entries()) {
      const place = i * blocks + block;
      if (place < length) key[place] = byte;
    }
  }
  return key;
}

function deriveBlock(hashedPassphrase: Uint8Array, salt: Uint8Array, rounds: number, number: number) {
  const counter = new Uint8Array(4);
  new DataView(counter.buffer).setUint32(0, number);
  let last = bcryptHash(hashedPassphrase, sha512(salt, counter));
  const sum = last.slice();
  for (let round = 1; round < rounds; round++) {
    last = bcryptHash(hashedPassphrase, sha512(last));
    for (const [i, byte] of last.entries()) sum[i] = (sum[i] ?? 0) ^ byte;
  }
  return sum;
}

function bcryptHash(hashedPassphrase: Uint8Array, hashedSalt: Uint8Array): Uint8Array {
  const cipher = new Blowfish();
  cipher.expand(hashedPassphrase, hashedSalt);
  for (let i = 0; i < 64; i++) {
    cipher.expand(hashedSalt);
    cipher.expand(hashedPassphrase);
  }
  const words = wordsOf(new TextEncoder().encode(MAGIC));
  for (let i = 0; i < 64; i++) cipher.encrypt(words);
  const bytes = new DataView(new ArrayBuffer(BLOCK));
  for (const [i, word] of words.entries()) bytes.setUint32(4 * i, word, true);
  return new Uint8Array(bytes.buffer);
}

function sha512(...parts: readonly Uint8Array[]): Uint8Array {
  const hash = createHash("sha512");
  for (const part of parts) hash.update(part);
  return new Uint8Array(hash.digest());
}
