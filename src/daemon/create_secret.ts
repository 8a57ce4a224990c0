import { Secret } from "../model/secret.ts";

const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
/** 62 ** 24 > 2 ** 142. */
const LENGTH = 24;
/** Larger bytes would bias the choice. */
const FAIR = 256 - 256 % ALPHABET.length;

/** Creates a one-time secret of letters and digits, safe in FTP commands and command lines. */
export function createSecret(): Secret {
  let text = "";
  while (text.length < LENGTH) {
    for (const byte of crypto.getRandomValues(new Uint8Array(LENGTH))) {
      if (byte < FAIR && text.length < LENGTH) text += ALPHABET.charAt(byte % ALPHABET.length);
    }
  }
  return new Secret(text);
}
