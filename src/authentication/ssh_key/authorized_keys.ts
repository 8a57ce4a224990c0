import { trimCharacters } from "../../model/text.ts";
import { type KeyConditions, parseKeyOptions } from "./key_options.ts";
import { decodePublicKey, isSshKeyType, type SshPublicKey } from "./public_key.ts";
import { splitOptions, splitWord } from "./line_words.ts";
import { UnusableKey } from "./wire_reader.ts";
import type { CertificateAuthority } from "./certificate/authorities_file.ts";
import { mayComeFrom } from "./source_addresses.ts";

/** Key with the conditions of its line. */
export interface AuthorizedKey {
  readonly publicKey: SshPublicKey;
  readonly conditions: KeyConditions;
  readonly issues?: CertificateAuthority; // present for `cert-authority`: only its certificates authenticate
}

type KeyLine =
  | { readonly kind: "key"; readonly key: AuthorizedKey }
  | { readonly kind: "empty" }
  | { readonly kind: "refused"; readonly reason: string }; // unusable key; the reason quotes nothing of it

const MAX_LINE_LENGTH = 16_384; // UTF-16 units

/** Parses a line like sshd(8), "AUTHORIZED_KEYS FILE FORMAT": only the word after the type is ever a key. */
export function parseKeyLine(line: string): KeyLine {
  if (line.length > MAX_LINE_LENGTH) return { kind: "refused", reason: "line is too long" };
  const text = trimCharacters(line, " \t\r\n");
  if (text === "" || text.startsWith("#")) return { kind: "empty" };
  try {
    return { kind: "key", key: parseKey(text) };
  } catch (error) {
    if (error instanceof UnusableKey) return { kind: "refused", reason: error.message };
    throw error;
  }
}

function parseKey(text: string): AuthorizedKey {
  const [first, rest] = splitWord(text);
  if (isKeyTypeName(first)) return { publicKey: parsePublicKey(first, rest), conditions: {} };
  const [options, key] = splitOptions(text);
  const conditions = parseKeyOptions(options);
  const [type, blob] = splitWord(key);
  return { publicKey: parsePublicKey(type, blob), conditions };
}

function parsePublicKey(type: string, rest: string): SshPublicKey {
  if (!isSshKeyType(type)) {
    throw new UnusableKey(
      isKeyTypeName(type) ? "key type is not supported" : "no key type where one belongs",
    );
  }
  return decodePublicKey(type, splitWord(rest)[0]);
}

/** Reports whether a word names a key type, supported or not. */
function isKeyTypeName(word: string): boolean {
  return /^(?:ssh-|ecdsa-|sk-|webauthn-|rsa-sha2-)/.test(word);
}

/** Returns why a key's conditions are not met. @param now Milliseconds since the epoch. */
export function hindrance(
  { conditions }: AuthorizedKey,
  { clientAddress, now }: { readonly clientAddress: string; readonly now: number },
): string | undefined {
  const { from, expires } = conditions;
  if (expires !== undefined && Math.floor(now / 1000) > expires) return "the key has expired";
  if (from !== undefined && !mayComeFrom(from, clientAddress)) return "the key may not be used from there";
  return undefined;
}
