import { Buffer } from "node:buffer";

/** Malformed DER. */
export class InvalidDer extends TypeError {
  constructor() {
    super("The bytes are not well-formed DER");
  }
}

const MAX_OBJECT_ID = 256; // bytes; decoding is quadratic in the length
const MAX_DEPTH = 8; // nesting of constructed octet strings; each level copies its content

/** DER element (X.690, 8.1). Its methods throw {@link InvalidDer} if the element is of another type. */
export class DerElement {
  readonly tag: number;
  readonly #bytes: Buffer;
  readonly #first: number;
  readonly #start: number;
  readonly #end: number;

  constructor({ bytes, tag, start, end }: ElementWalk, first: number) {
    this.tag = tag;
    this.#bytes = bytes;
    this.#first = first;
    this.#start = start;
    this.#end = end;
  }

  /** View of the content, made on demand: most elements are only skipped. */
  get content(): Buffer {
    return this.#bytes.subarray(this.#start, this.#end);
  }

  get whole(): Buffer {
    return this.#bytes.subarray(this.#first, this.#end);
  }

  children(): DerElement[] {
    const found: DerElement[] = [];
    const walk = new ElementWalk(this.#bytes, this.#start, this.#end);
    for (let first = this.#start; walk.next(); first = walk.end) found.push(new DerElement(walk, first));
    return found;
  }

  child(index: number): DerElement {
    const found = this.children()[index];
    if (found === undefined) throw new InvalidDer();
    return found;
  }

  /** Returns the content of an octet string, also of a constructed one. */
  octets(depth = 0): Buffer {
    if ((this.tag & 0x20) === 0) return this.content;
    if (depth >= MAX_DEPTH) throw new InvalidDer();
    return Buffer.concat(this.children().map((part) => part.octets(depth + 1)));
  }

  integer(): number {
    const octets = this.content;
    if (this.tag !== 0x02 || octets.length === 0 || octets.length > 5) throw new InvalidDer();
    return octets.reduce((sum, octet) => sum * 256 + octet, 0);
  }

  /** Returns an object identifier in dotted form (X.690, 8.19). */
  objectId(): string {
    const content = this.content;
    if (this.tag !== 0x06 || content.length > MAX_OBJECT_ID) throw new InvalidDer();
    const numbers: bigint[] = [];
    let number = 0n;
    for (const byte of content) {
      number = (number << 7n) | BigInt(byte & 0x7f);
      if ((byte & 0x80) !== 0) continue;
      numbers.push(number);
      number = 0n;
    }
    const [first = 0n, ...rest] = numbers;
    const root = first < 80n ? first / 40n : 2n;
    return [root, first - root * 40n, ...rest].join(".");
  }

  /** Reports whether the length has its shortest encoding, as DER requires (X.690, 10.1). */
  hasShortestLength(): boolean {
    return this.whole.equals(encodeElement(this.tag, this.content));
  }
}

/** Reads the first element of the bytes and ignores the rest. @throws {InvalidDer} */
export function readElement(bytes: Uint8Array): DerElement {
  const walk = new ElementWalk(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length));
  if (!walk.next()) throw new InvalidDer();
  return new DerElement(walk, 0);
}

/** Cursor over DER elements that allocates nothing, for lists too long for an object per element. */
export class ElementWalk {
  tag = 0;
  start = 0;
  end = 0;
  #last: number;

  constructor(readonly bytes: Buffer, first = 0, last = bytes.length) {
    this.end = first;
    this.#last = last;
  }

  /** Restarts inside the current element of another walk. */
  enter({ start, end }: ElementWalk): void {
    this.end = start;
    this.#last = end;
  }

  /** Moves to the next element; false at the end. @throws {InvalidDer} */
  next(): boolean {
    const at = this.end;
    if (at >= this.#last) return false;
    const tag = this.bytes[at] ?? 0;
    const short = at + 1 < this.#last ? this.bytes[at + 1] ?? 0x80 : 0x80;
    const size = short < 0x80 ? 0 : short - 0x80;
    const start = at + 2 + size;
    if ((tag & 0x1f) === 0x1f || short === 0x80 || size > 4 || start > this.#last) throw new InvalidDer();
    const end = start + (size === 0 ? short : this.bytes.readUIntBE(at + 2, size));
    if (end > this.#last) throw new InvalidDer();
    this.tag = tag;
    this.start = start;
    this.end = end;
    return true;
  }
}

/** Encodes tag, length and content (DER: X.690, 8.1 and 10.1). */
export function encodeElement(tag: number, content: Uint8Array): Buffer {
  const digits = content.length.toString(16);
  const length = Buffer.from(digits.length % 2 === 0 ? digits : `0${digits}`, "hex");
  const head = content.length < 0x80 ? [tag] : [tag, 0x80 + length.length];
  return Buffer.concat([Buffer.of(...head), length, content]);
}
