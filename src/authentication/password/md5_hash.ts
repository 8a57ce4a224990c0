import { hash } from "node:crypto";

/** A password as the specification's file format keeps it: MD5 of the salt text and the password, one after the other. */
export interface Md5Hash {
  readonly kind: "md5";
  /** Hashed as the text it is, also where it looks like hexadecimal. */
  readonly salt: string;
  /** 16 bytes in lower-case hexadecimal: digests are made and compared in that form. */
  readonly digest: string;
}

/** MD5 of the UTF-8 bytes of both texts, in lower-case hexadecimal (specification 2.5, authentication.md 2.2). */
export function md5Digest(salt: string, password: string): string {
  return hash("md5", salt + password, "hex"); // a third of the price of asking for bytes
}

/** Compares in constant time. */
export function matchesMd5({ salt, digest }: Md5Hash, password: string): boolean {
  return sameText(md5Digest(salt, password), digest);
}

/**
 * Looks at every character, wherever the first difference is. The platform's `timingSafeEqual` is such a loop too, and
 * with the bytes it wants to have costs more than the digest.
 */
function sameText(one: string, other: string): boolean {
  let difference = one.length ^ other.length;
  for (let i = 0; i < one.length; i++) difference |= one.charCodeAt(i) ^ other.charCodeAt(i);
  return difference === 0;
}

const SALT_ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_";

/** A random salt in the specification's form: 16 characters of `A-Z a-z 0-9 _`, a good 95 bits. */
export function randomSalt(): string {
  let salt = "";
  while (salt.length < 16) {
    // 63 of 64 values are letters of the alphabet; the last is drawn again, so that all are equally likely.
    const [byte = 0] = crypto.getRandomValues(new Uint8Array(1));
    salt += SALT_ALPHABET[byte & 63] ?? "";
  }
  return salt;
}
