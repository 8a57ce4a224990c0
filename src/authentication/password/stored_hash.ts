import { hash, scrypt, timingSafeEqual } from "node:crypto";
import { Buffer } from "node:buffer";
import { httpError } from "../../model/http_error.ts";
import { FairSemaphore, NoPermit, type SemaphoreWaiter } from "../../model/fair_semaphore.ts";

/** Hash of the specification: MD5 of salt text and password, concatenated. */
export interface Md5Hash {
  readonly kind: "md5";
  readonly salt: string; // literal text, even if it looks hexadecimal
  readonly digest: string; // lower-case hexadecimal
}

/** Returns the MD5 of the UTF-8 bytes of both texts (specification 2.5, credentials.md 2.2). */
export function md5Digest(salt: string, password: string): string {
  return hash("md5", salt + password, "hex"); // a third of the cost of bytes
}

/** Compares in constant time. */
export function matchesMd5({ salt, digest }: Md5Hash, password: string): boolean {
  return sameText(md5Digest(salt, password), digest);
}

/** Compares in constant time; `timingSafeEqual` with its buffers costs more than the digest. */
function sameText(one: string, other: string): boolean {
  let difference = one.length ^ other.length;
  for (let i = 0; i < one.length; i++) difference |= one.charCodeAt(i) ^ other.charCodeAt(i);
  return difference === 0;
}

const SALT_ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_";

/** Returns a random salt: 16 characters of `A-Z a-z 0-9 _`, 95 bits. */
export function randomSalt(): string {
  let salt = "";
  while (salt.length < 16) {
    // Reject one value in 64 for a uniform choice.
    const [byte = 0] = crypto.getRandomValues(new Uint8Array(1));
    salt += SALT_ALPHABET[byte & 63] ?? "";
  }
  return salt;
}

/** Cost of a scrypt hash (RFC 7914). */
export interface ScryptCost {
  readonly ln: number; // binary logarithm of `N`
  readonly r: number;
  readonly p: number;
}

export interface ScryptHash {
  readonly kind: "scrypt";
  readonly cost: ScryptCost;
  readonly salt: Uint8Array;
  readonly key: Uint8Array;
}

const SCRYPT_COST: ScryptCost = { ln: 15, r: 8, p: 3 }; // new hashes: 32 MiB and about a tenth of a second

const MAX_MEMORY = 128 * 2 ** 20; // bytes per check, so that a file cannot exhaust memory
const MAX_WORK = 2 ** 20; // largest `N · r · p`, which determines the time

/** Formats `$scrypt$ln=15,r=8,p=3$<salt>$<key>` (PHC string, as passlib); it contains no `:`. */
export function formatScrypt({ cost: { ln, r, p }, salt, key }: ScryptHash): string {
  return `$scrypt$ln=${ln},r=${r},p=${p}$${encode(salt)}$${encode(key)}`;
}

/** Parses {@link formatScrypt}. Returns the expectation if malformed or out of bounds. */
export function parseScrypt(text: string): ScryptHash | { readonly expected: string } {
  const match = /^\$scrypt\$ln=(\d{1,2}),r=(\d{1,2}),p=(\d{1,2})\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$/.exec(
    text,
  );
  if (match === null) return { expected: "expected $scrypt$ln=…,r=…,p=…$<salt>$<key>" };
  const [, ln, r, p, salt, key] = match;
  const cost = { ln: Number(ln), r: Number(r), p: Number(p) };
  const diagnostic = costDiagnostic(cost);
  if (diagnostic !== undefined) return { expected: diagnostic };
  const saltBytes = decode(salt);
  const keyBytes = decode(key);
  if (saltBytes === undefined || saltBytes.length < 8 || saltBytes.length > 64) {
    return { expected: "expected a scrypt salt of 8 to 64 bytes in base64 without padding" };
  }
  if (keyBytes === undefined || keyBytes.length < 16 || keyBytes.length > 64) {
    return { expected: "expected a scrypt key of 16 to 64 bytes in base64 without padding" };
  }
  return { kind: "scrypt", cost, salt: saltBytes, key: keyBytes };
}

function costDiagnostic({ ln, r, p }: ScryptCost): string | undefined {
  if (ln < 10 || r < 1 || p < 1) return "expected a scrypt cost of at least ln=10, r=1, p=1";
  if (128 * r * 2 ** ln > MAX_MEMORY) {
    return "expected a scrypt cost of at most 128 MiB (128 · r · 2^ln bytes)";
  }
  if (r * p * 2 ** ln > MAX_WORK) return "expected a scrypt cost of at most 2^20 (r · p · 2^ln)";
  return undefined;
}

/** Reports whether two costs are equal. */
export function sameCost(a: ScryptCost, b: ScryptCost): boolean {
  return a.ln === b.ln && a.r === b.r && a.p === b.p;
}

/** Hashes a password with a random salt. */
export async function hashWithScrypt(password: string, cost: ScryptCost = SCRYPT_COST): Promise<ScryptHash> {
  const salt = crypto.getRandomValues(new Uint8Array(16));
  return { kind: "scrypt", cost, salt, key: await derive(password, salt, cost, 32) };
}

/** Compares in constant time, off the event loop. */
export async function matchesScrypt({ cost, salt, key }: ScryptHash, password: string): Promise<boolean> {
  return timingSafeEqual(await derive(password, salt, cost, key.length), key);
}

function derive(
  password: string,
  salt: Uint8Array,
  { ln, r, p }: ScryptCost,
  length: number,
): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const options = { N: 2 ** ln, r, p, maxmem: 2 * MAX_MEMORY };
    scrypt(password, salt, length, options, (error, key) => error === null ? resolve(key) : reject(error));
  });
}

function encode(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("base64").replaceAll("=", "");
}

function decode(text: string | undefined): Uint8Array | undefined {
  if (text === undefined) return undefined;
  const bytes = new Uint8Array(Buffer.from(text, "base64"));
  return encode(bytes) === text ? bytes : undefined;
}

/** Stored password; a prefix distinguishes the kinds. */
export type StoredHash = Md5Hash | ScryptHash;

interface HashFields {
  readonly hash: string;
  readonly salt: string;
}

/** Returns the expectation if the fields hold no usable hash. */
export function parseStoredHash({ hash, salt }: HashFields): StoredHash | { readonly expected: string } {
  if (hash.startsWith("$scrypt$")) {
    return salt === "" ? parseScrypt(hash) : { expected: "expected an empty salt field beside $scrypt$…" };
  }
  if (!/^[0-9A-Fa-f]{32}$/.test(hash)) {
    return { expected: "expected a hash of 32 hexadecimal digits or $scrypt$…" };
  }
  return { kind: "md5", salt, digest: hash.toLowerCase() };
}

/** Formats the fields of a line. */
export function formatStoredHash(stored: StoredHash): HashFields {
  switch (stored.kind) {
    case "md5":
      return { hash: stored.digest, salt: stored.salt };
    case "scrypt":
      return { hash: formatScrypt(stored), salt: "" };
  }
}

/** Verifies a password in constant time. */
export async function matchesStored(stored: StoredHash, password: string): Promise<boolean> {
  return stored.kind === "md5" ? matchesMd5(stored, password) : await matchesScrypt(stored, password);
}

/** Limits concurrent scrypt work: a hash takes 0.1 s and tens of MB, and the runtime would run hundreds. */
export class ScryptSemaphore {
  readonly #semaphore = new FairSemaphore({
    maxConcurrent: 3, // for two cores: known users need not wait for two unknown ones
    reservedForKnown: 1,
    knownWeight: 8,
    waiting: 128, // some seconds of work, as for each key
    perKey: 8,
  });

  /** @throws {ERR_TOO_MUCH_WORK} 503 if the queue is full. @throws The signal's reason; what the work throws. */
  run<T>(work: () => Promise<T>, waiter: SemaphoreWaiter): Promise<T> {
    return this.#semaphore.run(work, waiter).catch((error) => {
      throw error instanceof NoPermit
        ? httpError("ERR_TOO_MUCH_WORK", `check of a password: ${error.message}`)
        : error;
    });
  }
}
