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
  /** Identifier octet, such as 0x30 for a sequence. */
  readonly tag: number;
  readonly #bytes: Buffer;
  readonly #first: number;
  readonly #start: number;
  readonly #end: number;

  /** The element of the bytes at `first` that a walk has reached. */
  constructor({ bytes, tag, start, end }: ElementWalk, first: number) {
    this.tag = tag;
    this.#bytes = bytes;
    this.#first = first;
    this.#start = start;
    this.#end = end;
  }

  /** A view, made when it is asked for: most elements are only passed by. */
  get content(): Buffer {
    return this.#bytes.subarray(this.#start, this.#end);
  }

  /** Tag, length and content. */
  get whole(): Buffer {
    return this.#bytes.subarray(this.#first, this.#end);
  }

  /** The elements in one that is made of such. */
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

  /** Octets of an octet string, also of one in parts. */
  octets(depth = 0): Buffer {
    if ((this.tag & 0x20) === 0) return this.content;
    if (depth >= MAX_DEPTH) throw new InvalidDer();
    return Buffer.concat(this.children().map((part) => part.octets(depth + 1)));
  }

  /** A whole number that is not negative. */
  integer(): number {
    const octets = this.content;
    if (this.tag !== 0x02 || octets.length === 0 || octets.length > 5) throw new InvalidDer();
    return octets.reduce((sum, octet) => sum * 256 + octet, 0);
  }

  /** An object identifier in dotted form, such as `2.5.4.5` (X.690, 8.19); a longer one than anybody uses is refused. */
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
  const walk = new ElementWalk(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length));
  if (!walk.next()) throw new InvalidDer();
  return new DerElement(walk, 0);
}

/**
 * Goes from element to element in bytes that are made of such, and makes nothing of them: for lists of so many that an
 * object for each would take too long.
 */
export class ElementWalk {
  /** Identifier octet of the element that was reached. */
  tag = 0;
  /** Where its content begins and ends. */
  start = 0;
  end = 0;
  #last: number;

  /** @param last Where the elements end. */
  constructor(readonly bytes: Buffer, first = 0, last = bytes.length) {
    this.end = first;
    this.#last = last;
  }

  /** Begins anew with what is in the element that another walk has reached. */
  enter({ start, end }: ElementWalk): void {
    this.end = start;
    this.#last = end;
  }

  /** Goes on to the next element; `false` if there is none. @throws {InvalidDer} If what follows is none. */
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

/** Tag, length and content of an element. */
export function encodeElement(tag: number, content: Uint8Array): Buffer {
  const digits = content.length.toString(16);
  const length = Buffer.from(digits.length % 2 === 0 ? digits : `0${digits}`, "hex");
  const head = content.length < 0x80 ? [tag] : [tag, 0x80 + length.length];
  return Buffer.concat([Buffer.of(...head), length, content]);
}
