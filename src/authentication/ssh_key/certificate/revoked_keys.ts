import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import { eachLine, TimeSlicer } from "../../../model/time_slicing.ts";
import { decodeKey, type SshPublicKey, UnusableKey, WireReader } from "../public_key.ts";
import { isCertificateType, type UserCertificate } from "./user_certificate.ts";

/** Revoked keys and certificates, from `ssh-keygen -k` or a list of public keys. */
export class RevokedKeys {
  readonly #sha256 = new Set<string>(); // digests of keys in base64
  readonly #sha1 = new Set<string>();
  /** By the authority's fingerprint; empty for any authority. */
  readonly #certificates = new Map<string, RevokedCertificates>();

  /** Number of entries; a range of serials is one. */
  get size(): number {
    let size = this.#sha256.size + this.#sha1.size;
    for (const { serials, keyIds } of this.#certificates.values()) size += serials.size + keyIds.size;
    return size;
  }

  addKey(blob: Uint8Array): void {
    this.addSha256(createHash("sha256").update(blob).digest());
  }

  addSha256(digest: Buffer): void {
    this.#sha256.add(digest.toString("base64"));
  }

  addSha1(digest: Buffer): void {
    this.#sha1.add(digest.toString("base64"));
  }

  /** Returns the revocations of one authority, or for all if the blob is empty. */
  certificatesOf(authority: Uint8Array): RevokedCertificates {
    const name = authority.length === 0 ? "" : createHash("sha256").update(authority).digest("base64");
    const none = () => ({ serials: new SerialRanges(), keyIds: new Set<string>() });
    return this.#certificates.getOrInsertComputed(name, none);
  }

  revokesKey({ fingerprint, blob }: SshPublicKey): boolean {
    return this.#sha256.has(fingerprint) ||
      (this.#sha1.size > 0 && this.#sha1.has(createHash("sha1").update(blob).digest("base64")));
  }

  /** Reports whether a certificate, its key or its authority is revoked (OpenSSH, krl.c). */
  revokes({ publicKey, authority, serial, keyId }: UserCertificate): boolean {
    if (this.revokesKey(publicKey) || this.revokesKey(authority)) return true;
    return ["", authority.fingerprint].some((name) => {
      const revoked = this.#certificates.get(name);
      // Serial 0 means no serial (ssh-keygen(1), -z).
      return revoked !== undefined &&
        (revoked.keyIds.has(keyId) || (serial !== 0n && revoked.serials.has(serial)));
    });
  }
}

interface RevokedCertificates {
  readonly serials: SerialRanges;
  readonly keyIds: Set<string>;
}

/** Set of numbers as ranges. */
export class SerialRanges {
  readonly #ranges: { from: bigint; to: bigint }[] = [];
  #isSorted = true;

  get size(): number {
    return this.#ranges.length;
  }

  /** @throws {UnusableKey} As OpenSSH: for 0 (no serial), a reversed range, or more than 64 bits. */
  add(from: bigint, to = from): void {
    if (from === 0n || from > to || to >> 64n > 0n) throw new UnusableKey("range of serials is not valid");
    const last = this.#ranges.at(-1);
    if (last !== undefined && last.to + 1n === from) last.to = to;
    else {
      if (last !== undefined && from <= last.to) this.#isSorted = false;
      this.#ranges.push({ from, to });
    }
  }

  has(serial: bigint): boolean {
    // ssh-keygen sorts them; other writers may not.
    if (!this.#isSorted) return this.#ranges.some(({ from, to }) => from <= serial && serial <= to);
    let [low, high] = [0, this.#ranges.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#ranges[middle]?.to ?? 0n) < serial) low = middle + 1;
      else high = middle;
    }
    const found = this.#ranges[low];
    return found !== undefined && found.from <= serial;
  }
}

const MAGIC = Buffer.from("SSHKRL\n\0", "latin1");
const MAX_REVOKED_BYTES = 32 * 1024 * 1024; // bytes
const MAX_BITMAP_BITS = 0x400_0000; // bits of a bitmap of serials, as in OpenSSH

const SECTION = { certificates: 1, keys: 2, sha1: 3, signature: 4, sha256: 5, extension: 255 } as const;
const PART = { serials: 0x20, range: 0x21, bitmap: 0x22, keyIds: 0x23, extension: 0x39 } as const;

/** Parses a revocation list (OpenSSH, PROTOCOL.krl, or keys by line). @throws {UnusableKey} If any part is unknown: ignoring it could admit a revoked key. */
export async function readRevokedKeys(bytes: Uint8Array): Promise<RevokedKeys> {
  if (bytes.length > MAX_REVOKED_BYTES) throw new UnusableKey("list of revoked keys is too long");
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const isBinary = buffer.subarray(0, MAGIC.length).equals(MAGIC);
  return await (isBinary ? readBinary(buffer.subarray(MAGIC.length)) : readLines(buffer.toString("utf8")));
}

async function readLines(text: string): Promise<RevokedKeys> {
  const revoked = new RevokedKeys();
  await eachLine(text, (whole, number) => {
    const line = whole.trim();
    if (line === "" || line.startsWith("#")) return;
    const [type = "", base64 = ""] = line.split(/[ \t]/, 2);
    try {
      if (isCertificateType(type)) throw new UnusableKey("expected a public key, found a certificate");
      const blob = decodeKey(base64, MAX_REVOKED_LINE);
      if (new WireReader(blob).text() !== type) {
        throw new UnusableKey("key is not of the type named before it");
      }
      revoked.addKey(blob);
    } catch (error) {
      if (!(error instanceof UnusableKey)) throw error;
      throw new UnusableKey(`line ${number}: ${error.message}`, { cause: error });
    }
  });
  return revoked;
}

const MAX_REVOKED_LINE = 16_384;

async function readBinary(content: Buffer): Promise<RevokedKeys> {
  const reader = new WireReader(content, "list of revoked keys");
  if (reader.uint32() !== 1) throw new UnusableKey("list of revoked keys is not of version 1");
  reader.uint64(); // number
  reader.uint64(); // creation time
  reader.uint64(); // flags, all unused
  reader.string(); // reserved
  reader.string(); // comment
  const revoked = new RevokedKeys();
  const steps = new TimeSlicer();
  while (!reader.isAtEnd) {
    const [section, list] = [reader.byte(), reader.nested()];
    switch (section) {
      case SECTION.certificates:
        await readCertificates(list, revoked, steps);
        break;
      case SECTION.keys:
        await eachValue(list, steps, () => revoked.addKey(list.string()));
        break;
      case SECTION.sha1:
        await eachValue(list, steps, () => revoked.addSha1(ofLength(list.string(), 20)));
        break;
      case SECTION.sha256:
        await eachValue(list, steps, () => revoked.addSha256(ofLength(list.string(), 32)));
        break;
      case SECTION.signature: // ignored, as in OpenSSH: the operator owns the file
        reader.string();
        break;
      case SECTION.extension:
        skipExtension(list);
        break;
      default:
        throw new UnusableKey(`list of revoked keys has a section of unknown type ${section}`);
    }
  }
  return revoked;
}

async function readCertificates(list: WireReader, revoked: RevokedKeys, steps: TimeSlicer): Promise<void> {
  const known = revoked.certificatesOf(list.string());
  list.string(); // reserved
  while (!list.isAtEnd) {
    const [part, content] = [list.byte(), list.nested()];
    switch (part) {
      case PART.serials:
        await eachValue(content, steps, () => known.serials.add(content.uint64()));
        break;
      case PART.range:
        known.serials.add(content.uint64(), content.uint64());
        content.expectEnd();
        break;
      case PART.bitmap:
        await readBitmap(content, known, steps);
        break;
      case PART.keyIds:
        await eachValue(content, steps, () => known.keyIds.add(content.string().toString("utf8")));
        break;
      case PART.extension:
        skipExtension(content);
        break;
      default:
        throw new UnusableKey(`list of revoked keys has a part of unknown type ${part}`);
    }
  }
}

/** Reads a bitmap of serials, the lowest in the last byte. */
async function readBitmap(content: WireReader, known: RevokedCertificates, steps: TimeSlicer): Promise<void> {
  const first = content.uint64();
  const bits = content.string();
  content.expectEnd();
  if (bits.length * 8 > MAX_BITMAP_BITS) throw new UnusableKey("bitmap of serials is too long");
  for (let at = 0; at < bits.length; at++) {
    const byte = bits[bits.length - 1 - at] ?? 0;
    for (let bit = 0; bit < 8; bit++) {
      if (byte & (1 << bit)) known.serials.add(first + BigInt(at * 8 + bit));
    }
    if (steps.shouldYield) await steps.yield();
  }
}

async function eachValue(list: WireReader, steps: TimeSlicer, readOne: () => void): Promise<void> {
  while (!list.isAtEnd) {
    readOne();
    if (steps.shouldYield) await steps.yield();
  }
}

function ofLength(digest: Buffer, length: number): Buffer {
  if (digest.length !== length) throw new UnusableKey(`digest of ${digest.length} bytes, expected ${length}`);
  return digest;
}

/** Skips an unknown extension unless it is critical. */
function skipExtension(content: WireReader): void {
  content.string(); // name
  if (content.byte() !== 0) throw new UnusableKey("list of revoked keys has an unknown critical extension");
}
