import { Buffer } from "node:buffer";
import {
  createHash,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
  verify,
} from "node:crypto";
import { decodeBase64 } from "../../model/base64.ts";
import { attempt } from "../../model/attempt.ts";
import { MAX_RSA_BITS, MIN_RSA_BITS } from "../../model/trust/certificate_facts.ts";

/** Reason why a key is unusable, for the operator; quotes nothing of it. */
export class UnusableKey extends Error {}

/** Reader of SSH wire values (RFC 4251, 5). @throws {UnusableKey} If a value is missing. */
export class WireReader {
  #at = 0;

  constructor(readonly bytes: Buffer, readonly what = "key") {}

  get position(): number {
    return this.#at;
  }

  get isAtEnd(): boolean {
    return this.#at === this.bytes.length;
  }

  byte(): number {
    return this.#take(1)[0] ?? 0;
  }

  uint32(): number {
    return this.#take(4).readUInt32BE();
  }

  uint64(): bigint {
    return this.#take(8).readBigUInt64BE();
  }

  string(): Buffer {
    return this.#take(this.uint32());
  }

  text(): string {
    return this.string().toString("latin1");
  }

  nested(): WireReader {
    return new WireReader(this.string(), this.what);
  }

  /** Reads a positive `mpint` without its leading zero. */
  positiveInteger(): Buffer {
    const bytes = this.string();
    const [first = 0x80, second = 0] = bytes;
    if (first >= 0x80 || (first === 0 && second < 0x80)) {
      throw new UnusableKey("number is not in its one form");
    }
    return first === 0 ? bytes.subarray(1) : bytes;
  }

  expectEnd(): void {
    if (!this.isAtEnd) throw new UnusableKey(`bytes follow the ${this.what}`);
  }

  #take(length: number): Buffer {
    const start = this.#at;
    if (length > this.bytes.length - start) throw new UnusableKey(`${this.what} is cut off`);
    this.#at += length;
    return this.bytes.subarray(start, this.#at);
  }
}

export interface SshPublicKey {
  readonly type: SshKeyType;
  readonly key: KeyObject;
  readonly fingerprint: string; // SHA-256 of the blob in base64, regardless of options and comment
  readonly blob: Buffer; // wire format with the type
}

/** Supported key types: no DSA, FIDO (`sk-…`) or certificates. */
export type SshKeyType = keyof typeof DECODERS;

/** Digest, field size and curve (RFC 5656, 6.2.1). */
export const ECDSA = {
  "ecdsa-sha2-nistp256": { hash: "sha256", size: 32, curve: "P-256" },
  "ecdsa-sha2-nistp384": { hash: "sha384", size: 48, curve: "P-384" },
  "ecdsa-sha2-nistp521": { hash: "sha512", size: 66, curve: "P-521" },
} as const;

type EcdsaType = keyof typeof ECDSA;

/** Decoders of a blob after its type to JWK (RFC 4253 6.6, RFC 5656 3.1, RFC 8709 4). */
const DECODERS = {
  "ssh-rsa": (blob: WireReader) => {
    const e = blob.positiveInteger();
    const n = blob.positiveInteger();
    const bits = (n.length - 1) * 8 + (32 - Math.clz32(n[0] ?? 0));
    if (bits < MIN_RSA_BITS || bits > MAX_RSA_BITS) {
      throw new UnusableKey(`RSA key of ${bits} bits, expected ${MIN_RSA_BITS} to ${MAX_RSA_BITS}`);
    }
    if (e.length > 4 || (e.at(-1) ?? 0) % 2 === 0 || (e.length === 1 && e[0] === 1)) {
      throw new UnusableKey("RSA exponent is not an odd number from 3 to 4294967295");
    }
    return { kty: "RSA", e: e.toString("base64url"), n: n.toString("base64url") };
  },
  "ecdsa-sha2-nistp256": (blob: WireReader) => ecdsa(blob, "ecdsa-sha2-nistp256"),
  "ecdsa-sha2-nistp384": (blob: WireReader) => ecdsa(blob, "ecdsa-sha2-nistp384"),
  "ecdsa-sha2-nistp521": (blob: WireReader) => ecdsa(blob, "ecdsa-sha2-nistp521"),
  "ssh-ed25519": (blob: WireReader) => {
    const x = blob.string();
    if (x.length !== 32) throw new UnusableKey("Ed25519 key is not 32 bytes long");
    return { kty: "OKP", crv: "Ed25519", x: x.toString("base64url") };
  },
} as const;

function ecdsa(blob: WireReader, type: EcdsaType) {
  const { size, curve: crv } = ECDSA[type];
  if (blob.text() !== type.slice("ecdsa-sha2-".length)) {
    throw new UnusableKey("curve is not that of the key type");
  }
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

/** Decodes a key line's canonical base64. Stricter than `ssh2`, which accepts trailing bytes, wrong curves and points off the curve. @throws {UnusableKey} */
export function decodePublicKey(type: SshKeyType, base64: string): SshPublicKey {
  const key = decodeKeyBlob(decodeKey(base64, MAX_BASE64));
  if (key.type !== type) throw new UnusableKey("key is not of the type named before it");
  return key;
}

/** Decodes canonical padded base64. @throws {UnusableKey} If malformed, empty or too long. */
export function decodeKey(base64: string, maxLength: number): Buffer {
  const blob = base64.length > maxLength ? undefined : decodeBase64(base64);
  if (!blob?.length) throw new UnusableKey("key is not in base64");
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
  return attempt(() => createPublicKey({ key, format: "jwk" }), Error, (cause) => {
    throw new UnusableKey("key is not a valid one of its type", { cause });
  });
}

/** RFC 8332, 3; without SHA-1 (`ssh-rsa`). */
const RSA_HASHES: ReadonlyMap<string, string> = new Map([
  ["rsa-sha2-256", "sha256"],
  ["rsa-sha2-512", "sha512"],
]);

/** Verifies an SSH signature (RFC 4253, 6.6; RFC 5656, 3.1.2; RFC 8332; RFC 8709, 6) by a secure algorithm. */
export function isWireSigned(signed: Uint8Array, signature: Buffer, key: SshPublicKey): boolean {
  const read = () => {
    const reader = new WireReader(signature, "signature");
    const parts = { algorithm: reader.text(), value: reader.string() };
    reader.expectEnd();
    return parts;
  };
  const parts = attempt(read, UnusableKey, () => undefined);
  if (parts === undefined) return false;
  const { algorithm, value } = parts;
  if (key.type === "ssh-rsa") {
    const hash = RSA_HASHES.get(algorithm);
    return hash !== undefined && verify(hash, signed, key.key, value);
  }
  if (algorithm !== key.type) return false;
  if (key.type === "ssh-ed25519") return value.length === 64 && verify(null, signed, key.key, value);
  return isEcdsaSigned(signed, value, { type: key.type, key: key.key });
}

/** Verifies an ECDSA signature in SSH form (RFC 5656, 3.1.2). */
export function isEcdsaSigned(
  signed: Uint8Array,
  signature: Buffer,
  { type, key }: { readonly type: SshKeyType & EcdsaType; readonly key: KeyObject },
): boolean {
  const { hash, size } = ECDSA[type];
  const plain = fromWire(signature, size);
  return plain !== undefined && verify(hash, signed, { key, dsaEncoding: "ieee-p1363" }, plain);
}

function fromWire(signature: Buffer, size: number): Buffer | undefined {
  return attempt(
    () => {
      const reader = new WireReader(signature, "signature");
      const plain = join(reader.string(), reader.string(), size);
      reader.expectEnd();
      return plain;
    },
    UnusableKey,
    () => undefined,
  );
}

function join(r: Buffer, s: Buffer, size: number): Buffer | undefined {
  const field = (number: Buffer) => {
    const digits = number[0] === 0 ? number.subarray(1) : number;
    return digits.length > size ? undefined : Buffer.concat([Buffer.alloc(size - digits.length), digits]);
  };
  const [first, second] = [field(r), field(s)];
  return first && second && Buffer.concat([first, second]);
}

const KEYS = new Map<SshKeyType, KeyObject>();

/** Returns a public key without a private one, so that unknown users cost the same work as known ones. */
export function decoyKey(type: SshKeyType): KeyObject {
  return KEYS.getOrInsertComputed(type, makeKey);
}

function makeKey(type: SshKeyType): KeyObject {
  if (type === "ssh-ed25519") return generateKeyPairSync("ed25519").publicKey;
  if (type !== "ssh-rsa") return generateKeyPairSync("ec", { namedCurve: ECDSA[type].curve }).publicKey;
  // Any odd 3072-bit number costs the same as a product of two primes.
  const modulus = randomBytes(384);
  modulus[0] = 0x80 | (modulus[0] ?? 0);
  modulus[383] = 1 | (modulus[383] ?? 0);
  return createPublicKey({ key: { kty: "RSA", e: "AQAB", n: modulus.toString("base64url") }, format: "jwk" });
}
