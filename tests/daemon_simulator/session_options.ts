import { Buffer } from "node:buffer";
import { PythonError, quoted, splitOnce, toInteger } from "./python_text.ts";

const HASHES = new Map([["MD5", "md5"], ["SHA-1", "sha1"], ["SHA-256", "sha256"], ["SHA-512", "sha512"]]);
const SIZES = ["FILE_READ_BUFFER_SIZE", "FILE_WRITE_BUFFER_SIZE", "BUFFER_SIZE"];

/**
 * Options that a client may set in its session; only hash, number of streams and `KEEP-ALIVE` have an effect.
 */
export class SessionOptions {
  /** Whether the data connection survives a transfer. */
  keepAlive = false;
  compress = false;
  encrypted = false;
  /** Bytes per second, stored but not enforced. */
  rateLimit: number;
  readonly #initialRateLimit: number;
  #streams = 1;
  #hash = "MD5";

  constructor(rateLimit: number, private readonly maxStreams: number) {
    this.rateLimit = rateLimit;
    this.#initialRateLimit = rateLimit;
  }

  get streams(): number {
    return this.#streams;
  }

  set streams(wanted: number) {
    this.#streams = Math.min(wanted, this.maxStreams);
  }

  get hash(): string {
    return this.#hash;
  }

  /** Name of the hash for `node:crypto`. */
  get hashAlgorithm(): string {
    return HASHES.get(this.#hash) ?? "md5";
  }

  /** All hashes; a star marks the chosen hash. */
  get hashList(): string {
    return [...HASHES.keys()].map((name) => name === this.#hash ? `${name}*` : name).join(";");
  }

  /** @throws {PythonError} If the key is not base64 or too long. */
  setEncryption(key: string | undefined, algorithm: string | undefined): void {
    if (key === undefined) return;
    const octets = decodeBase64(key);
    if (algorithm === undefined && ![32, 40, 48].includes(octets.length) && octets.length > 56) {
      throw new PythonError("Illegal key length");
    }
    this.encrypted = true;
  }

  /** @throws {PythonError} */
  set(option: string, value: string): void {
    if (SIZES.includes(option)) return void natural(value);
    switch (option) {
      case "HASH": {
        const name = value.toUpperCase();
        if (!HASHES.has(name)) throw new PythonError(`Unsupported hash algorithm ${quoted(name)}`);
        this.#hash = name;
        return;
      }
      case "KEEP_ALIVE":
        this.keepAlive = isTrue(value);
        return;
      case "SENDFILE_ENABLED":
      case "ARCHIVE":
        return;
      case "RATE_LIMIT": {
        const limit = natural(value);
        this.rateLimit = this.#initialRateLimit <= 0 ? limit : Math.min(this.#initialRateLimit, limit);
        return;
      }
      default:
        throw new PythonError(`Unknown option '${option}'`);
    }
  }

  list(): string[] {
    return [
      `RATE_LIMIT ${this.rateLimit}`,
      "FILE_READ_BUFFER_SIZE 1048576",
      "FILE_WRITE_BUFFER_SIZE 1048576",
      "BUFFER_SIZE 1048576",
      "SENDFILE_ENABLED False",
      `HASH ${this.#hash}`,
    ];
  }
}

/** Does the same as `b64decode`: skips characters outside the alphabet, and requires padding. */
function decodeBase64(text: string): Buffer {
  const clean = text.replace(/[^A-Za-z0-9+/=]/g, "");
  const [data] = splitOnce(clean, "=");
  const missing = (4 - data.length % 4) % 4;
  if (missing === 3 || !clean.slice(data.length).startsWith("=".repeat(missing))) {
    throw new PythonError("Incorrect padding");
  }
  return Buffer.from(data, "base64");
}

/** Reports whether the daemon reads a text as true. */
export const isTrue = (text: string): boolean => ["true", "yes", "1"].includes(text.toLowerCase());

function natural(text: string): number {
  const number = toInteger(text);
  if (number < 0) throw new PythonError("Need positive value");
  return number;
}
