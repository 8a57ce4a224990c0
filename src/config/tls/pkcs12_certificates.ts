import { Buffer } from "node:buffer";
import {
  createDecipheriv,
  createHash,
  createHmac,
  pbkdf2Sync,
  timingSafeEqual,
  type X509Certificate,
} from "node:crypto";
import { certificateOfDer, UnusableStore } from "./certificates.ts";
import { type DerElement, InvalidDer, readElement } from "../../model/der_element.ts";
import { decryptRc2Cbc } from "./rc2.ts";

const DATA = "1.2.840.113549.1.7.1";
const ENCRYPTED_DATA = "1.2.840.113549.1.7.6";
const KEY_BAG = "1.2.840.113549.1.12.10.1.1";
const ENCRYPTED_KEY_BAG = "1.2.840.113549.1.12.10.1.2";
const CERTIFICATE_BAG = "1.2.840.113549.1.12.10.1.3";
/** Attributes of a key's own certificate, and of one that Java trusts; authorities of the key's chain have neither. */
const ANCHORS: ReadonlySet<string> = new Set(["1.2.840.113549.1.9.21", "2.16.840.1.113894.746875.1.1"]);
const PBES2 = "1.2.840.113549.1.5.13";
const PBKDF2 = "1.2.840.113549.1.5.12";

const MAX_ITERATIONS = 1_000_000; // more than any tool uses; bounds the work

const DIGESTS: ReadonlyMap<string, string> = new Map([
  ["1.3.14.3.2.26", "sha1"],
  ["2.16.840.1.101.3.4.2.1", "sha256"],
  ["2.16.840.1.101.3.4.2.2", "sha384"],
  ["2.16.840.1.101.3.4.2.3", "sha512"],
]);

const PSEUDO_RANDOM_FUNCTIONS: ReadonlyMap<string, string> = new Map([
  ["1.2.840.113549.2.7", "sha1"],
  ["1.2.840.113549.2.9", "sha256"],
  ["1.2.840.113549.2.10", "sha384"],
  ["1.2.840.113549.2.11", "sha512"],
]);

/** Without AES-192, which the runtime lacks and no tool chooses. */
const CIPHERS: ReadonlyMap<string, { readonly name: string; readonly keyBytes: number }> = new Map([
  ["2.16.840.1.101.3.4.1.2", { name: "aes-128-cbc", keyBytes: 16 }],
  ["2.16.840.1.101.3.4.1.42", { name: "aes-256-cbc", keyBytes: 32 }],
  ["1.2.840.113549.3.7", { name: "des-ede3-cbc", keyBytes: 24 }],
]);

/** Legacy ciphers (RFC 7292, C), all with SHA-1. */
const OLD_CIPHERS: ReadonlyMap<string, { readonly name: "rc2" | "des-ede3-cbc"; readonly keyBytes: number }> =
  new Map(
    [
      ["1.2.840.113549.1.12.1.3", { name: "des-ede3-cbc", keyBytes: 24 }],
      ["1.2.840.113549.1.12.1.5", { name: "rc2", keyBytes: 16 }],
      ["1.2.840.113549.1.12.1.6", { name: "rc2", keyBytes: 5 }],
    ],
  );

/** Wrong password, or a damaged store, which looks the same. */
export class WrongPassword extends UnusableStore {
  constructor(options?: ErrorOptions) {
    super("expected the right password of the key store, or the file is damaged", options);
  }
}

export interface Pkcs12Content {
  readonly certificates: readonly X509Certificate[];
  readonly anchors: readonly X509Certificate[]; // those trusted by Java if the store has keys
  readonly keys: readonly Uint8Array[]; // PKCS#8 in DER
}

/** Parses any PKCS#12 store (RFC 7292); the TLS library supports few of them. @throws {UnusableStore} */
export function readPkcs12(pfx: Uint8Array, password: string): Pkcs12Content {
  if (pfx[0] === 0x30 && pfx[1] === 0x80) throw unsupported("encoding (DER)"); // BER of indefinite length
  try {
    return readStore(pfx, password);
  } catch (cause) {
    // "No password" is an empty one for most stores, and absent for others.
    if (password === "" && cause instanceof WrongPassword) return readStore(pfx, undefined);
    if (!(cause instanceof InvalidDer)) throw cause;
    throw new UnusableStore("expected a PKCS#12 key store, this file cannot be read as one", { cause });
  }
}

function readStore(pfx: Uint8Array, password: string | undefined): Pkcs12Content {
  const [version, authSafe, mac] = readElement(pfx).children();
  if (version?.tag !== 0x02) throw new InvalidDer();
  if (authSafe === undefined) throw unsupported("format");
  const content = contentOf(authSafe);
  if (mac !== undefined) checkMac(mac, content, password);
  const bags = readElement(content).children().flatMap((part) => {
    const contents = decryptPart(part, password);
    return contents === undefined ? [] : readElement(contents).children();
  });
  const certificates = bags.filter(isOf(CERTIFICATE_BAG));
  const parsed = (bag: DerElement) => certificateOfDer(valueOf(bag).child(1).child(0).octets());
  const isAnchor = (bag: DerElement) =>
    bag.children()[2]?.children().some((attribute) => ANCHORS.has(attribute.child(0).objectId()));
  return {
    certificates: certificates.map(parsed),
    anchors: certificates.filter(isAnchor).map(parsed),
    keys: bags.flatMap((bag) => {
      if (isOf(KEY_BAG)(bag)) return [valueOf(bag).whole];
      if (!isOf(ENCRYPTED_KEY_BAG)(bag)) return [];
      const encrypted = valueOf(bag); // EncryptedPrivateKeyInfo (RFC 5958, 3)
      return [decrypt(encrypted.child(0), encrypted.child(1), password)];
    }),
  };
}

/** Returns trusted certificates, as Java does: all except the chains of the keys. @throws {UnusableStore} If none. */
export function certificatesOfPkcs12(pfx: Uint8Array, password: string): X509Certificate[] {
  const { certificates, anchors, keys } = readPkcs12(pfx, password);
  const trusted = keys.length === 0 ? certificates : anchors;
  if (trusted.length === 0) throw new UnusableStore("expected trusted certificates in the key store");
  return [...trusted];
}

function isOf(kind: string): (bag: DerElement) => boolean {
  return (bag) => bag.child(0).objectId() === kind;
}

function valueOf(bag: DerElement): DerElement {
  return bag.child(1).child(0);
}

function contentOf(info: DerElement): Uint8Array {
  if (info.child(0).objectId() !== DATA) throw unsupported("content");
  return info.child(1).child(0).octets();
}

function checkMac(mac: DerElement, content: Uint8Array, password: string | undefined): void {
  const [info, salt, count] = mac.children();
  const digest = DIGESTS.get(info?.child(0).child(0).objectId() ?? "");
  if (info === undefined || salt === undefined || digest === undefined) throw unsupported("integrity check");
  const expected = info.child(1).octets();
  const key = derivePkcs12({
    digest,
    password,
    salt: salt.octets(),
    iterations: bounded(count?.integer() ?? 1),
    purpose: "mac",
    length: expected.length,
  });
  const found = createHmac(digest, key).update(content).digest();
  if (found.length !== expected.length || !timingSafeEqual(found, expected)) throw new WrongPassword();
}

/** Decrypts one part; `undefined` for irrelevant kinds. */
function decryptPart(part: DerElement, password: string | undefined): Uint8Array | undefined {
  const type = part.child(0).objectId();
  if (type === DATA) return contentOf(part);
  if (type !== ENCRYPTED_DATA) return undefined;
  const [, algorithm, data] = part.child(1).child(0).child(1).children();
  if (algorithm === undefined || data === undefined) throw unsupported("encryption");
  return decrypt(algorithm, data, password);
}

function decrypt(algorithm: DerElement, data: DerElement, password: string | undefined): Uint8Array {
  const id = algorithm.child(0).objectId();
  const decipher = id === PBES2 ? decryptPbes2 : decryptOld;
  try {
    return decipher(algorithm, id, data.octets(), password);
  } catch (cause) {
    if (cause instanceof UnusableStore || cause instanceof InvalidDer) throw cause;
    throw new WrongPassword({ cause });
  }
}

/** Decrypts PBES2 (RFC 8018, 6.2). */
function decryptPbes2(
  algorithm: DerElement,
  _id: string,
  data: Uint8Array,
  password: string | undefined,
): Uint8Array {
  const [derivation, encryption] = algorithm.child(1).children();
  const cipher = CIPHERS.get(encryption?.child(0).objectId() ?? "");
  if (derivation?.child(0).objectId() !== PBKDF2 || encryption === undefined || cipher === undefined) {
    throw unsupported("encryption");
  }
  const [salt, count, ...options] = derivation.child(1).children();
  if (salt === undefined || count === undefined) throw unsupported("encryption");
  const chosen = options.find(({ tag }) => tag === 0x30)?.child(0).objectId();
  const digest = chosen === undefined ? "sha1" : PSEUDO_RANDOM_FUNCTIONS.get(chosen);
  if (digest === undefined) throw unsupported("encryption");
  // PBKDF2 treats an empty and an absent password alike.
  const key = pbkdf2Sync(password ?? "", salt.octets(), bounded(count.integer()), cipher.keyBytes, digest);
  return decryptCbc(cipher.name, key, encryption.child(1).octets(), data);
}

function decryptOld(
  algorithm: DerElement,
  id: string,
  data: Uint8Array,
  password: string | undefined,
): Uint8Array {
  const cipher = OLD_CIPHERS.get(id);
  if (cipher === undefined) throw unsupported("encryption");
  const [salt, count] = algorithm.child(1).children();
  if (salt === undefined || count === undefined) throw unsupported("encryption");
  const common = { digest: "sha1", password, salt: salt.octets(), iterations: bounded(count.integer()) };
  const key = derivePkcs12({ ...common, purpose: "key", length: cipher.keyBytes });
  const iv = derivePkcs12({ ...common, purpose: "iv", length: 8 });
  return cipher.name === "rc2"
    ? decryptRc2Cbc({ key, effectiveBits: 8 * cipher.keyBytes, iv, data })
    : decryptCbc(cipher.name, key, iv, data);
}

function decryptCbc(name: string, key: Uint8Array, iv: Uint8Array, data: Uint8Array): Uint8Array {
  const decipher = createDecipheriv(name, key, iv);
  return Buffer.concat([decipher.update(data), decipher.final()]);
}

function bounded(iterations: number): number {
  if (iterations < 1 || iterations > MAX_ITERATIONS) throw unsupported("number of iterations");
  return iterations;
}

function unsupported(what: string): UnusableStore {
  return new UnusableStore(
    `expected a PKCS#12 key store with a supported ${what}; export it again: ` +
      "openssl pkcs12 -in <old> -nodes -out <pem>, then openssl pkcs12 -export -in <pem> -out <new>",
  );
}

/** Purpose of derived bytes (RFC 7292, B.3). */
type Purpose = "key" | "iv" | "mac";

const IDS: Readonly<Record<Purpose, number>> = { key: 1, iv: 2, mac: 3 };

/** Derives key material (RFC 7292, B.2). @param password `undefined`: no bytes; empty: the terminating zero only (B.1). @param length In bytes. */
export function derivePkcs12(
  { digest, password, salt, iterations, purpose, length }: {
    readonly digest: string;
    readonly password: string | undefined;
    readonly salt: Uint8Array;
    readonly iterations: number;
    readonly purpose: Purpose;
    readonly length: number;
  },
): Uint8Array {
  const block = digest === "sha384" || digest === "sha512" ? 128 : 64; // bytes that the hash takes at once
  const diversifier = new Uint8Array(block).fill(IDS[purpose]);
  const secret = Buffer.from(password === undefined ? "" : `${password}\0`, "utf16le").swap16(); // a BMPString
  let input = Buffer.concat([repeat(salt, block), repeat(secret, block)]);
  let result = Buffer.alloc(0);
  while (result.length < length) {
    let hash: Uint8Array = Buffer.concat([diversifier, input]);
    for (let round = 0; round < iterations; round++) hash = createHash(digest).update(hash).digest();
    result = Buffer.concat([result, hash]);
    input = addToBlocks(input, repeat(hash, block).subarray(0, block), block);
  }
  return result.subarray(0, length);
}

/** Repeats bytes to fill whole blocks; empty stays empty. */
function repeat(bytes: Uint8Array, block: number): Uint8Array {
  const result = new Uint8Array(Math.ceil(bytes.length / block) * block);
  return result.map((_, index) => bytes[index % bytes.length] ?? 0);
}

/** Adds the summand plus 1 to each block, as big integers. */
function addToBlocks(input: Uint8Array, summand: Uint8Array, block: number): Buffer<ArrayBuffer> {
  const result = Buffer.from(input);
  for (let start = 0; start < result.length; start += block) {
    let carry = 1;
    for (let index = block - 1; index >= 0; index--) {
      const sum = (result[start + index] ?? 0) + (summand[index] ?? 0) + carry;
      result[start + index] = sum & 0xff;
      carry = sum >> 8;
    }
  }
  return result;
}
