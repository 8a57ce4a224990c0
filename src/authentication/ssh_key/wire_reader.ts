import type { Buffer } from "node:buffer";

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
