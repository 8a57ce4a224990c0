import { Secret } from "../model/secret.ts";

const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
/** 62 ** 24 is more than 2 ** 142. */
const LENGTH = 24;
/** Bytes from here on would make the first letters of the alphabet more likely than the others. */
const FAIR = 256 - 256 % ALPHABET.length;

/** A one-time secret of letters and digits: it becomes a word of an FTP command and a part of clients' command lines. */
export function createSecret(): Secret {
  let text = "";
  while (text.length < LENGTH) {
    for (const byte of crypto.getRandomValues(new Uint8Array(LENGTH))) {
      if (byte < FAIR && text.length < LENGTH) text += ALPHABET.charAt(byte % ALPHABET.length);
    }
  }
  return new Secret(text);
}
