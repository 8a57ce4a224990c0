import type { Buffer } from "node:buffer";

/** Why a key is of no use; the text is for the operator and repeats nothing of the key. */
export class UnusableKey extends Error {
  override readonly name = "UnusableKey";
}

/** Reads SSH wire values (RFC 4251, 5): a length in four bytes, then as many bytes. @throws {UnusableKey} If what is asked for is not there. */
export class WireReader {
  #at = 0;

  constructor(readonly bytes: Buffer) {}

  string(): Buffer {
    const start = this.#at + 4;
    const end = start > this.bytes.length ? Infinity : start + this.bytes.readUInt32BE(this.#at);
    if (end > this.bytes.length) throw new UnusableKey("key is cut off");
    this.#at = end;
    return this.bytes.subarray(start, end);
  }

  text(): string {
    return this.string().toString("latin1");
  }

  /** An `mpint` above zero, without the zero byte that keeps it from being negative. */
  positiveInteger(): Buffer {
    const bytes = this.string();
    const [first = 0x80, second = 0] = bytes;
    if (first >= 0x80 || (first === 0 && second < 0x80)) {
      throw new UnusableKey("number is not in its one form");
    }
    return first === 0 ? bytes.subarray(1) : bytes;
  }

  expectEnd(): void {
    if (this.#at !== this.bytes.length) throw new UnusableKey("bytes follow the key");
  }
}
