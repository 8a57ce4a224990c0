import { Buffer } from "node:buffer";
import type { JSONWebKeySet, JWK } from "jose";
import { isJsonObject } from "../json_object.ts";

/** Error for a key set without usable keys, for log and operator. */
export class InvalidKeys extends Error {}

/** Key set (RFC 7517, 5). */
export interface KeyDocument {
  readonly body: string; // original text
  readonly keys: JSONWebKeySet; // public signature keys
  readonly leftOut: readonly string[]; // distinct reasons for ignored keys, for the log
}

const MOST_KEYS = 100;
const [FEWEST_BITS, MOST_BITS] = [2048, 4096]; // RSA bits (RFC 7518, 3.3; the platform reads no longer ones)
/** Characters (64 bits): longer exponents are unused, and cost milliseconds per signature. */
const MOST_OF_EXPONENT = 11;

const SECRET_MEMBERS = ["d", "p", "q", "dp", "dq", "qi", "oth", "k"]; // RFC 7518, 6.2.2, 6.3.2, 6.4.1

/**
 * Parses a key set without unusable keys: encryption, weak, or private ones, with which anybody could sign
 * (RFC 8725, 3.5). @throws {InvalidKeys}
 */
export function readKeys(body: string): KeyDocument {
  const listed = listOf(body);
  if (listed.length > MOST_KEYS) throw new InvalidKeys(`more than ${MOST_KEYS} keys`);
  const leftOut = new Set<string>();
  const keys = listed.filter((key): key is JWK => {
    const diagnostic = diagnosticOf(key);
    if (diagnostic !== undefined) leftOut.add(diagnostic);
    return diagnostic === undefined;
  });
  if (keys.length === 0) {
    const why = [...leftOut].join(", ");
    throw new InvalidKeys(why === "" ? "no key at all" : `no key that could be used: ${why}`);
  }
  return { body, keys: { keys }, leftOut: [...leftOut] };
}

function listOf(body: string): readonly unknown[] {
  try {
    const document: unknown = JSON.parse(body);
    if (isJsonObject(document) && Array.isArray(document.keys)) return document.keys;
  } catch (cause) {
    throw new InvalidKeys("the key set is no JSON", { cause });
  }
  throw new InvalidKeys("the key set is no JSON object with a list of keys");
}

function diagnosticOf(key: unknown): string | undefined {
  if (!isJsonObject(key)) return "no JSON object";
  if (SECRET_MEMBERS.some((member) => Object.hasOwn(key, member))) return "a secret key";
  if (key.kid !== undefined && typeof key.kid !== "string") return "a kid that is no text";
  if (key.use !== undefined && key.use !== "sig") return "not for signatures";
  switch (key.kty) {
    case "RSA":
      if (typeof key.e !== "string" || key.e.length > MOST_OF_EXPONENT) return "RSA with a long exponent";
      return typeof key.n === "string" && hasUsableLength(key.n)
        ? undefined
        : `RSA of other than ${FEWEST_BITS} to ${MOST_BITS} bits`;
    case "EC":
      return ["P-256", "P-384", "P-521"].includes(String(key.crv)) ? undefined : "another curve";
    case "OKP":
      return key.crv === "Ed25519" ? undefined : "another curve";
    default:
      return "another sort of key";
  }
}

function hasUsableLength(modulus: string): boolean {
  if (modulus.length > MOST_BITS) return false;
  const hex = Buffer.from(modulus, "base64url").toString("hex").replace(/^0+/, "");
  const bits = hex === "" ? 0 : hex.length * 4 - (Math.clz32(parseInt(hex.charAt(0), 16)) - 28);
  return bits >= FEWEST_BITS && bits <= MOST_BITS;
}
