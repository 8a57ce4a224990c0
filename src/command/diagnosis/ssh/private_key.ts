import { Buffer } from "node:buffer";
import { createDecipheriv, createPrivateKey, type JsonWebKey, type KeyObject } from "node:crypto";
import { hasPrivateKey } from "../../../config/tls/private_key.ts";
import { bcryptPbkdf } from "./bcrypt_pbkdf.ts";

/** Why a private key cannot be used; repeats nothing of it. */
export class UnusablePrivateKey extends Error {
  override readonly name = "UnusablePrivateKey";
}

/** A passphrase is needed, or another one. */
export class PassphraseNeeded extends Error {
  override readonly name = "PassphraseNeeded";
}

const OPENSSH = "-----BEGIN OPENSSH PRIVATE KEY-----";

/**
 * Reads a private key in OpenSSH's own form, or in PKCS#8 or the forms of OpenSSL, with or without passphrase.
 * @throws {PassphraseNeeded} If it is locked, and the passphrase is missing or wrong.
 * @throws {UnusablePrivateKey}
 */
export function readPrivateKey(text: string, passphrase?: string): KeyObject {
  if (text.includes(OPENSSH)) return readOpenSshKey(text, passphrase);
  if (!hasPrivateKey(text)) throw new UnusablePrivateKey("not a private key");
  try {
    return createPrivateKey({ key: text, ...(passphrase !== undefined && { passphrase }) });
  } catch (cause) {
    if (/ENCRYPTED/.test(text)) throw new PassphraseNeeded("locked by a passphrase", { cause });
    throw new UnusablePrivateKey("not a private key in a known form", { cause });
  }
}

/** Ciphers that lock private keys, with the length of key and start value in bytes; the first is the usual one. */
const CIPHERS: ReadonlyMap<string, readonly [key: number, start: number]> = new Map([
  ["aes256-ctr", [32, 16]],
  ["aes192-ctr", [24, 16]],
  ["aes128-ctr", [16, 16]],
  ["aes256-cbc", [32, 16]],
  ["aes192-cbc", [24, 16]],
  ["aes128-cbc", [16, 16]],
]);

/** More rounds take longer than a minute, and nobody has them. */
const MAX_ROUNDS = 4096;

/** The container of OpenSSH (`PROTOCOL.key` in its source): public key, and private key in an encrypted box. */
function readOpenSshKey(text: string, passphrase: string | undefined): KeyObject {
  const [base64 = ""] = text.slice(text.indexOf(OPENSSH) + OPENSSH.length).split("-----END", 1);
  const outer = new WireReader(Buffer.from(base64, "base64"));
  outer.expect(Buffer.from("openssh-key-v1\0"));
  const [cipher, derivation] = [outer.text(), outer.text()];
  const parameters = new WireReader(outer.string());
  if (outer.number() !== 1) throw new UnusablePrivateKey("expected one key in the file");
  outer.string();
  const box = outer.string();
  if (cipher === "none" && derivation === "none") return readBox(box);
  const lengths = CIPHERS.get(cipher);
  if (lengths === undefined || derivation !== "bcrypt") {
    throw new UnusablePrivateKey(
      `locked with ${printableName(cipher)} and ${printableName(derivation)}, expected one of ${
        [...CIPHERS.keys()].join(", ")
      } and bcrypt`,
    );
  }
  if (passphrase === undefined) throw new PassphraseNeeded("locked by a passphrase");
  const [salt, rounds] = [parameters.string(), parameters.number()];
  if (rounds < 1 || rounds > MAX_ROUNDS) throw new UnusablePrivateKey(`expected 1 to ${MAX_ROUNDS} rounds`);
  const [length, start] = lengths;
  const derived = bcryptPbkdf(Buffer.from(passphrase), { salt, rounds, length: length + start });
  const decipher = createDecipheriv(
    cipher.replace("aes", "aes-"),
    derived.subarray(0, length),
    derived.subarray(length),
  );
  decipher.setAutoPadding(false);
  if (box.length === 0 || box.length % 16 !== 0) throw new UnusablePrivateKey("cut off");
  return readBox(Buffer.concat([decipher.update(box), decipher.final()]), true);
}

function readBox(box: Buffer, locked = false): KeyObject {
  const reader = new WireReader(box);
  if (reader.number() !== reader.number()) {
    // The same number twice is the mark of a box that was opened with the right key.
    if (locked) throw new PassphraseNeeded("locked by another passphrase");
    throw new UnusablePrivateKey("damaged");
  }
  const type = reader.text();
  try {
    return createPrivateKey({ key: jsonWebKey(type, reader), format: "jwk" });
  } catch (cause) {
    if (cause instanceof UnusablePrivateKey) throw cause;
    throw new UnusablePrivateKey("not a valid key of its type", { cause });
  }
}

/** Curve, name in JSON Web Keys and length of a number in bytes, by key type (RFC 5656, RFC 7518). */
const CURVES: ReadonlyMap<string, readonly [crv: string, size: number]> = new Map([
  ["ecdsa-sha2-nistp256", ["P-256", 32]],
  ["ecdsa-sha2-nistp384", ["P-384", 48]],
  ["ecdsa-sha2-nistp521", ["P-521", 66]],
]);

function jsonWebKey(type: string, reader: WireReader): JsonWebKey {
  const curve = CURVES.get(type);
  if (curve !== undefined) {
    const [crv, size] = curve;
    reader.string(); // the curve once more
    const [point, d] = [reader.string(), reader.integer()];
    const [x, y] = [point.subarray(1, 1 + size), point.subarray(1 + size)];
    return { kty: "EC", crv, x: encode(x), y: encode(y), d: encode(bytesOf(d, size)) };
  }
  switch (type) {
    case "ssh-ed25519": {
      const [x, pair] = [reader.string(), reader.string()];
      return { kty: "OKP", crv: "Ed25519", x: encode(x), d: encode(pair.subarray(0, 32)) };
    }
    case "ssh-rsa": {
      const [n, e, d] = [reader.integer(), reader.integer(), reader.integer()];
      const [qi, p, q] = [reader.integer(), reader.integer(), reader.integer()];
      if (p < 2n || q < 2n) throw new UnusablePrivateKey("not a valid key of its type");
      const numbers = { n, e, d, p, q, dp: d % (p - 1n), dq: d % (q - 1n), qi };
      const texts = Object.entries(numbers).map(([name, value]) => [name, encode(bytesOf(value))] as const);
      return { kty: "RSA", ...Object.fromEntries(texts) };
    }
    default:
      throw new UnusablePrivateKey(`keys of type ${printableName(type)} are not accepted by the service`);
  }
}

function encode(bytes: Buffer): string {
  return bytes.toString("base64url");
}

function bytesOf(value: bigint, size = 0): Buffer {
  const hex = value.toString(16);
  const bytes = Buffer.from(hex.length % 2 === 0 ? hex : `0${hex}`, "hex");
  return Buffer.concat([Buffer.alloc(Math.max(0, size - bytes.length)), bytes]);
}

/** A name from a file as it may be shown. */
function printableName(name: string): string {
  return JSON.stringify(name.slice(0, 50));
}

/** Reads SSH wire values (RFC 4251, 5). */
class WireReader {
  #at = 0;

  constructor(readonly bytes: Buffer) {}

  number(): number {
    if (this.#at + 4 > this.bytes.length) throw new UnusablePrivateKey("cut off");
    this.#at += 4;
    return this.bytes.readUInt32BE(this.#at - 4);
  }

  string(): Buffer {
    const length = this.number();
    if (this.#at + length > this.bytes.length) throw new UnusablePrivateKey("cut off");
    this.#at += length;
    return this.bytes.subarray(this.#at - length, this.#at);
  }

  text(): string {
    return this.string().toString("latin1");
  }

  integer(): bigint {
    return BigInt(`0x0${this.string().toString("hex")}`);
  }

  expect(bytes: Buffer): void {
    if (!this.bytes.subarray(this.#at, this.#at + bytes.length).equals(bytes)) {
      throw new UnusablePrivateKey("not a private key in OpenSSH's form");
    }
    this.#at += bytes.length;
  }
}
