import { Buffer } from "node:buffer";
import { createPrivateKey, type KeyObject, sign } from "node:crypto";
import { ECDSA } from "../../../authentication/ssh_key/public_key.ts";
import { algorithmsOf } from "../../../model/trust/certificate_facts.ts";
import { hasPrivateKey } from "../../../config/tls/private_key.ts";

/** Error for an unusable private key; reveals no part of it. */
export class UnusablePrivateKey extends Error {}

/** Error for a missing or wrong passphrase. */
export class PassphraseNeeded extends Error {}

const OPENSSH = "-----BEGIN OPENSSH PRIVATE KEY-----";

/** Reads a private key of OpenSSH or OpenSSL. @throws {PassphraseNeeded | UnusablePrivateKey} */
export async function readPrivateKey(text: string, passphrase?: string): Promise<KeyObject> {
  if (!text.includes(OPENSSH) && !hasPrivateKey(text)) throw new UnusablePrivateKey("not a private key");
  try {
    if (text.includes(OPENSSH)) return await readContainer(text, passphrase);
    return createPrivateKey({ key: text, passphrase });
  } catch (cause) {
    if (cause instanceof PassphraseNeeded) throw cause;
    if (/ENCRYPTED/.test(text)) throw new PassphraseNeeded("locked by a passphrase", { cause });
    throw new UnusablePrivateKey("not a private key in a known form", { cause });
  }
}

/** Parses OpenSSH's container (`PROTOCOL.key` in its source) with `ssh2`, imported only here. @throws {PassphraseNeeded} */
async function readContainer(text: string, passphrase: string | undefined): Promise<KeyObject> {
  const { default: parser } = await import("ssh2/lib/protocol/keyParser.js");
  const parsed: unknown = parser.parseKey(text, passphrase === "" ? undefined : passphrase);
  const key: unknown = Array.isArray(parsed) ? parsed[0] : parsed;
  if (isParsedKey(key)) return privateKeyOf(key);
  const diagnostic = key instanceof Error ? key : new Error("no key");
  // Authenticated ciphers report the last message for a wrong key.
  if (/no passphrase given|bad passphrase|unable to authenticate data/.test(diagnostic.message)) {
    throw new PassphraseNeeded(
      passphrase === undefined ? "locked by a passphrase" : "locked by another passphrase",
    );
  }
  throw diagnostic;
}

interface ParsedKey {
  readonly type: string;
  getPrivatePEM(): string;
}

function isParsedKey(value: unknown): value is ParsedKey {
  return typeof value === "object" && value !== null && "type" in value && "getPrivatePEM" in value;
}

/** Encodes ECDSA keys again, since `ssh2` does not pad the number to the length of the curve's order (RFC 5915, 3). */
function privateKeyOf(parsed: ParsedKey): KeyObject {
  const pem = parsed.getPrivatePEM();
  const curve = Object.entries(ECDSA).find(([type]) => type === parsed.type)?.[1];
  if (curve === undefined) return createPrivateKey(pem);
  const { curve: crv, size } = curve;
  const der = Buffer.from(pem.replace(/-----[^-]+-----/g, ""), "base64");
  const at = der.indexOf(VERSION) + VERSION.length;
  const number = der.subarray(at + 1, at + 1 + (der[at] ?? 0)).toString("hex").replace(/^(?:00)+/, "");
  const d = Buffer.from(number.padStart(2 * size, "0"), "hex");
  const [x, y] = [der.subarray(-2 * size, -size), der.subarray(-size)];
  const [dText = "", xText = "", yText = ""] = [d, x, y].map((bytes) => bytes.toString("base64url"));
  return createPrivateKey({ key: { kty: "EC", crv, d: dText, x: xText, y: yText }, format: "jwk" });
}

/** Version 1 of an EC private key, and the tag of the number that follows (RFC 5915, 3). */
const VERSION = new Uint8Array([2, 1, 1, 4]);

const LIFETIME = 300; // seconds, like that of clients

/** Returns a token as clients sign it (credentials.md 3.7). @throws {UnusablePrivateKey} If the key type cannot sign tokens. */
export function signToken(user: string, key: KeyObject, now: number): string {
  const [algorithm] = algorithmsOf(key);
  if (algorithm === undefined) {
    throw new UnusablePrivateKey("expected an RSA, ECDSA (P-256, P-384, P-521) or Ed25519 key");
  }
  const digest = algorithm === "EdDSA" ? null : `sha${algorithm.slice(2)}`;
  const issued = Math.floor(now / 1000);
  const claims = { sub: user, iss: user, iat: issued, exp: issued + LIFETIME };
  const content = `${encode({ alg: algorithm })}.${encode(claims)}`;
  const signature = sign(digest, Buffer.from(content), { key, dsaEncoding: "ieee-p1363" });
  return `${content}.${signature.toString("base64url")}`;
}

function encode(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString("base64url");
}
