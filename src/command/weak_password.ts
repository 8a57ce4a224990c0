import commonPasswords from "./common_passwords.txt" with { type: "text" };
import { createHash } from "node:crypto";
import { counted } from "../model/text.ts";

const LEAST = 12;

/** Returns why a password is easy to guess, if it is. */
export function weakness(password: string): string | undefined {
  const { length } = [...password];
  if (length < LEAST) return `it has ${counted(length, "character", "characters")}, expected ${LEAST}`;
  return isCommonPassword(password) ? "it is one of the first that everybody tries" : undefined;
}

/** Compares with those of 12 or more characters among the 49233 most common in npm @zxcvbn-ts/language-common 3.0.4. */
function isCommonPassword(password: string): boolean {
  const digest = createHash("sha256").update(password.toLowerCase()).digest().subarray(0, 6).toString(
    "base64url",
  );
  return COMMON.has(digest);
}

/** First 48 bits of each SHA-256 in base64url: 8 characters. */
const COMMON: ReadonlySet<string> = new Set(commonPasswords.match(/\S{8}/g));
