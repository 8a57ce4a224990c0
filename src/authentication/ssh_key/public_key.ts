import { Buffer } from "node:buffer";
import { createHash, createPublicKey, type KeyObject } from "node:crypto";
import { MOST_RSA_BITS } from "../../model/trust/certificate_facts.ts";
import { UnusableKey, WireReader } from "./wire_reader.ts";

/** User's public key. */
export interface SshPublicKey {
  readonly type: SshKeyType;
  readonly key: KeyObject;
  readonly fingerprint: string; // SHA-256 of the blob in base64, regardless of options and comment
  readonly blob: Buffer; // wire format with the type
}

/** Supported key types: no DSA, FIDO (`sk-…`) or certificates. */
export type SshKeyType = keyof typeof DECODERS;

/** Decoders of a blob after its type to JWK (RFC 4253 6.6, RFC 5656 3.1, RFC 8709 4). */
const DECODERS = {
  "ssh-rsa": (blob: WireReader) => {
    const e = blob.positiveInteger();
    const n = blob.positiveInteger();
    const bits = (n.length - 1) * 8 + (32 - Math.clz32(n[0] ?? 0));
    if (bits < 2048 || bits > MOST_RSA_BITS) {
      throw new UnusableKey(`RSA key of ${bits} bits, expected 2048 to ${MOST_RSA_BITS}`);
    }
    if (e.length > 4 || (e.at(-1) ?? 0) % 2 === 0 || (e.length === 1 && e[0] === 1)) {
      throw new UnusableKey("RSA exponent is not an odd number from 3 to 4294967295");
    }
    return { kty: "RSA", e: e.toString("base64url"), n: n.toString("base64url") };
  },
  "ecdsa-sha2-nistp256": (blob: WireReader) => ecdsa(blob, "nistp256", "P-256", 32),
  "ecdsa-sha2-nistp384": (blob: WireReader) => ecdsa(blob, "nistp384", "P-384", 48),
  "ecdsa-sha2-nistp521": (blob: WireReader) => ecdsa(blob, "nistp521", "P-521", 66),
  "ssh-ed25519": (blob: WireReader) => {
    const x = blob.string();
    if (x.length !== 32) throw new UnusableKey("Ed25519 key is not 32 bytes long");
    return { kty: "OKP", crv: "Ed25519", x: x.toString("base64url") };
  },
} as const;

function ecdsa(blob: WireReader, name: string, crv: string, size: number) {
  if (blob.text() !== name) throw new UnusableKey("curve is not that of the key type");
  const point = blob.string();
  if (point.length !== 1 + 2 * size || point[0] !== 0x04) throw new UnusableKey("not an uncompressed point");
  return {
    kty: "EC",
    crv,
    x: point.subarray(1, 1 + size).toString("base64url"),
    y: point.subarray(1 + size).toString("base64url"),
  };
}

/** Reports whether a key type is supported. */
export function isSshKeyType(word: string): word is SshKeyType {
  return Object.hasOwn(DECODERS, word);
}

const MAX_BASE64 = 4096; // characters; a 16384-bit RSA key has 2,800

/**
 * Decodes a key line's canonical base64. Stricter than `ssh2`, which accepts trailing bytes, wrong curves and
 * points off the curve. @throws {UnusableKey}
 */
export function decodePublicKey(type: SshKeyType, base64: string): SshPublicKey {
  const key = decodeKeyBlob(decodeBase64(base64, MAX_BASE64));
  if (key.type !== type) throw new UnusableKey("key is not of the type named before it");
  return key;
}

/** Decodes canonical padded base64. @throws {UnusableKey} If malformed, empty or too long. */
export function decodeBase64(base64: string, maxLength: number): Buffer {
  const blob = base64.length > maxLength ? Buffer.alloc(0) : Buffer.from(base64, "base64");
  if (blob.length === 0 || blob.toString("base64") !== base64) throw new UnusableKey("key is not in base64");
  return blob;
}

/** Decodes a wire-format key with its type. @throws {UnusableKey} */
export function decodeKeyBlob(blob: Buffer): SshPublicKey {
  const reader = new WireReader(blob);
  const type = reader.text();
  if (!isSshKeyType(type)) throw new UnusableKey("key type is not supported");
  const key = readKey(type, reader);
  reader.expectEnd();
  return sshPublicKey(type, key, blob);
}

/** Builds a key with its fingerprint. @param blob Wire format with the type. */
export function sshPublicKey(type: SshKeyType, key: KeyObject, blob: Buffer): SshPublicKey {
  return { type, key, blob, fingerprint: createHash("sha256").update(blob).digest("base64") };
}

/** Reads a blob after its type. @throws {UnusableKey} */
export function readKey(type: SshKeyType, reader: WireReader): KeyObject {
  const key = DECODERS[type](reader);
  try {
    return createPublicKey({ key, format: "jwk" });
  } catch (cause) {
    throw new UnusableKey("key is not a valid one of its type", { cause });
  }
}
