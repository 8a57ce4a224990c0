import { Buffer } from "node:buffer";

/** Bytes that are not what they should be in DER. */
export class InvalidDer extends TypeError {
  override readonly name = "InvalidDer";

  constructor() {
    super("The bytes are not well-formed DER");
  }
}

/** Longest object identifier that is read, in bytes: each of its bytes costs as much work as stand before it. */
const MAX_OBJECT_ID = 256;
/** Octet strings in parts inside each other; every one would copy all in it. */
const MAX_DEPTH = 8;

/** One DER element (X.690, 8.1). Every method throws {@link InvalidDer} if the element is not what is asked for. */
export class DerElement {
  /**
   * @param tag Identifier octet, such as 0x30 for a sequence.
   * @param whole Tag, length and content.
   */
  constructor(readonly tag: number, readonly content: Buffer, readonly whole: Buffer) {}

  /** The elements in one that is made of such. */
  children(): DerElement[] {
    const found: DerElement[] = [];
    for (let rest = this.content; rest.length > 0;) {
      const element = readElement(rest);
      found.push(element);
      rest = rest.subarray(element.whole.length);
    }
    return found;
  }

  child(index: number): DerElement {
    const found = this.children()[index];
    if (found === undefined) throw new InvalidDer();
    return found;
  }

  /** Octets of an octet string, also of one in parts. */
  octets(depth = 0): Buffer {
    if ((this.tag & 0x20) === 0) return this.content;
    if (depth >= MAX_DEPTH) throw new InvalidDer();
    return Buffer.concat(this.children().map((part) => part.octets(depth + 1)));
  }

  /** A whole number that is not negative. */
  integer(): number {
    if (this.tag !== 0x02 || this.content.length === 0 || this.content.length > 5) throw new InvalidDer();
    return this.content.reduce((sum, octet) => sum * 256 + octet, 0);
  }

  /** An object identifier in dotted form, such as `2.5.4.5` (X.690, 8.19); a longer one than anybody uses is refused. */
  objectId(): string {
    if (this.tag !== 0x06 || this.content.length > MAX_OBJECT_ID) throw new InvalidDer();
    const numbers: bigint[] = [];
    let number = 0n;
    for (const byte of this.content) {
      number = (number << 7n) | BigInt(byte & 0x7f);
      if ((byte & 0x80) !== 0) continue;
      numbers.push(number);
      number = 0n;
    }
    const [first = 0n, ...rest] = numbers;
    const root = first < 80n ? first / 40n : 2n;
    return [root, first - root * 40n, ...rest].join(".");
  }

  /** Whether the length is written in the one way that DER permits (X.690, 10.1). */
  hasShortestLength(): boolean {
    return this.whole.equals(encodeElement(this.tag, this.content));
  }
}

/**
 * The first element of the bytes, such as a certificate, whatever follows it.
 * @throws {InvalidDer} If they begin with none.
 */
export function readElement(bytes: Uint8Array): DerElement {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  const [tag, short = 0x80] = buffer;
  const size = short < 0x80 ? 0 : short - 0x80;
  const start = 2 + size;
  if (tag === undefined || (tag & 0x1f) === 0x1f || short === 0x80 || size > 4 || start > buffer.length) {
    throw new InvalidDer();
  }
  const end = start + (size === 0 ? short : buffer.readUIntBE(2, size));
  if (end > buffer.length) throw new InvalidDer();
  return new DerElement(tag, buffer.subarray(start, end), buffer.subarray(0, end));
}

/** Tag, length and content of an element. */
export function encodeElement(tag: number, content: Uint8Array): Buffer {
  const digits = content.length.toString(16);
  const length = Buffer.from(digits.length % 2 === 0 ? digits : `0${digits}`, "hex");
  const head = content.length < 0x80 ? [tag] : [tag, 0x80 + length.length];
  return Buffer.concat([Buffer.of(...head), length, content]);
}
