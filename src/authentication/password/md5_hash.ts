import { hash } from "node:crypto";

/** Hash of the specification: MD5 of salt text and password, concatenated. */
export interface Md5Hash {
  readonly kind: "md5";
  readonly salt: string; // literal text, even if it looks hexadecimal
  readonly digest: string; // Lower-case hexadecimal
}

/** Returns the MD5 of the UTF-8 bytes of both texts (specification 2.5, authentication.md 2.2). */
export function md5Digest(salt: string, password: string): string {
  return hash("md5", salt + password, "hex"); // a third of the cost of bytes
}

/** Compares in constant time. */
export function matchesMd5({ salt, digest }: Md5Hash, password: string): boolean {
  return sameText(md5Digest(salt, password), digest);
}

/** Compares in constant time; `timingSafeEqual` with its buffers costs more than the digest. */
function sameText(one: string, other: string): boolean {
  let difference = one.length ^ other.length;
  for (let i = 0; i < one.length; i++) difference |= one.charCodeAt(i) ^ other.charCodeAt(i);
  return difference === 0;
}

const SALT_ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_";

/** Returns a random salt: 16 characters of `A-Z a-z 0-9 _`, 95 bits. */
export function randomSalt(): string {
  let salt = "";
  while (salt.length < 16) {
    // Reject one value in 64 for a uniform choice.
    const [byte = 0] = crypto.getRandomValues(new Uint8Array(1));
    salt += SALT_ALPHABET[byte & 63] ?? "";
  }
  return salt;
}
