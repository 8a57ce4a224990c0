/**
 * The block cipher Blowfish (B. Schneier, 1993) as far as {@link bcryptPbkdf} needs it. Its tables are the first binary
 * digits of pi, which are computed here instead of written down.
 */
export class Blowfish {
  readonly #keys: Uint32Array;
  /** Four tables of 256 words each, one behind the other. */
  readonly #tables: Uint32Array;
  #left = 0;
  #right = 0;

  constructor() {
    const words = INITIAL_WORDS ??= wordsOfPi(KEYS + TABLES);
    this.#keys = words.slice(0, KEYS);
    this.#tables = words.slice(KEYS);
  }

  /**
   * Mixes a key, and a salt if there is one, into the state; both are used again from their start when they run out.
   * @param key Some whole number of words of four bytes, as is the salt.
   */
  expand(key: Uint8Array, salt?: Uint8Array): void {
    const keyWords = wordsOf(key);
    const saltWords = salt === undefined ? undefined : wordsOf(salt);
    for (let i = 0; i < KEYS; i++) this.#keys[i] = at(this.#keys, i) ^ at(keyWords, i % keyWords.length);
    this.#left = 0;
    this.#right = 0;
    let used = 0;
    for (const target of [this.#keys, this.#tables]) {
      for (let i = 0; i < target.length; i += 2) {
        if (saltWords !== undefined) {
          this.#left ^= at(saltWords, used++ % saltWords.length);
          this.#right ^= at(saltWords, used++ % saltWords.length);
        }
        this.#encipher();
        target[i] = this.#left;
        target[i + 1] = this.#right;
      }
    }
  }

  /** Encrypts words two by two, in place. */
  encrypt(words: Uint32Array): void {
    for (let i = 0; i < words.length; i += 2) {
      this.#left = at(words, i);
      this.#right = at(words, i + 1);
      this.#encipher();
      words[i] = this.#left;
      words[i + 1] = this.#right;
    }
  }

  #encipher(): void {
    const tables = this.#tables;
    let left = this.#left ^ at(this.#keys, 0);
    let right = this.#right;
    for (let round = 1; round <= 16; round++) {
      const sum = at(tables, left >>> 24) + at(tables, 256 + (left >>> 16 & 255)) | 0;
      const mixed = (sum ^ at(tables, 512 + (left >>> 8 & 255))) + at(tables, 768 + (left & 255)) | 0;
      [left, right] = [right ^ mixed ^ at(this.#keys, round), left];
    }
    this.#left = right ^ at(this.#keys, 17);
    this.#right = left;
  }
}

const KEYS = 18;
const TABLES = 1024;
let INITIAL_WORDS: Uint32Array | undefined;

/** The words of bytes, most significant byte first. */
export function wordsOf(bytes: Uint8Array): Uint32Array {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return Uint32Array.from({ length: bytes.length / 4 }, (_, i) => view.getUint32(4 * i));
}

/** All indices here are within bounds. */
function at(words: Uint32Array, index: number): number {
  return words[index] ?? 0;
}

/** The binary digits of pi behind the point, in words, by Machin's formula. */
function wordsOfPi(count: number): Uint32Array {
  const guard = 64n;
  const one = 1n << (32n * BigInt(count) + guard);
  const pi = 16n * arctangentOfReciprocal(5n, one) - 4n * arctangentOfReciprocal(239n, one);
  const hex = ((pi - 3n * one) >> guard).toString(16).padStart(8 * count, "0");
  return Uint32Array.from({ length: count }, (_, i) => parseInt(hex.slice(8 * i, 8 * i + 8), 16));
}

function arctangentOfReciprocal(x: bigint, one: bigint): bigint {
  let power = one / x;
  let sum = power;
  for (let n = 3n, sign = -1n; power !== 0n; n += 2n, sign = -sign) {
    power /= x * x;
    sum += sign * (power / n);
  }
  return sum;
}
