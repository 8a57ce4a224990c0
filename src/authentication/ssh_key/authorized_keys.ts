import { trimCharacters } from "../../model/trim.ts";
import { type KeyConditions, parseKeyOptions } from "./key_options.ts";
import { decodePublicKey, isSshKeyType, type SshPublicKey } from "./public_key.ts";
import { splitOptions, splitWord } from "./line_words.ts";
import { UnusableKey } from "./wire_reader.ts";
import type { CertificateAuthority } from "./certificate/authorities_file.ts";
import { mayComeFrom } from "./source_addresses.ts";

/** A key with which a user may sign in, under the conditions of its line. */
export interface AuthorizedKey {
  readonly publicKey: SshPublicKey;
  readonly conditions: KeyConditions;
  /** Present if nobody signs in by the key itself, but by certificates that it signed (`cert-authority`). */
  readonly issues?: CertificateAuthority;
}

/** What a line of an `authorized_keys` file holds. */
type KeyLine =
  | { readonly kind: "key"; readonly key: AuthorizedKey }
  /** Blank, or a comment. */
  | { readonly kind: "empty" }
  /** A key that may not be used here, or no key at all; the reason repeats nothing of it. */
  | { readonly kind: "refused"; readonly reason: string };

/** Longest line that is read, in UTF-16 units. */
const MAX_LINE_LENGTH = 16_384;

/**
 * Reads a line as OpenSSH does (sshd(8), "AUTHORIZED_KEYS FILE FORMAT"): options if there are any, key type, key in base64,
 * comment. Only the word behind the type is ever taken for a key, never one inside an option or a comment.
 */
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

/** Whether a word names a key type, supported or not; no option begins like this. */
function isKeyTypeName(word: string): boolean {
  return /^(?:ssh-|ecdsa-|sk-|webauthn-|rsa-sha2-)/.test(word);
}

/**
 * Whether the conditions of a key are met; if not, why.
 * @param now Milliseconds since the epoch.
 */
export function hindrance(
  { conditions }: AuthorizedKey,
  { clientAddress, now }: { readonly clientAddress: string; readonly now: number },
): string | undefined {
  const { from, expires } = conditions;
  if (expires !== undefined && Math.floor(now / 1000) > expires) return "the key has expired";
  if (from !== undefined && !mayComeFrom(from, clientAddress)) return "the key may not be used from there";
  return undefined;
}
