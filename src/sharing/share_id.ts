const ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/** 130.9 bits. */
const LENGTH = 22;

/** Returns a random id of at least 128 bits in base62 (rest-api.md D34). */
export function newShareId(): string {
  let id = "";
  while (id.length < LENGTH) {
    for (const byte of crypto.getRandomValues(new Uint8Array(32))) {
      // 248 is the largest multiple of 62 in a byte: dropping the rest avoids bias.
      if (byte < 248 && id.length < LENGTH) id += ALPHABET[byte % 62];
    }
  }
  return id;
}

/** Reports whether a text can be a share id, ours or of the Java service (at most 11 characters, a UUID before 2024). */
export function isShareId(text: string): boolean {
  return /^(?:[0-9A-Za-z]{1,22}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/.test(text);
}
