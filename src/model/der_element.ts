import { Buffer } from "node:buffer";

/** One DER element (X.690, 8.1). */
export interface Element {
  readonly tag: number;
  readonly content: Buffer;
  /** Tag, length and content. */
  readonly whole: Buffer;
}

/**
 * The first element of the bytes, such as a certificate.
 * @throws {TypeError} If they begin with none.
 */
export function readElement(bytes: Uint8Array): Element {
  const [first] = elements(Buffer.from(bytes));
  if (first === undefined) throw malformed();
  return first;
}

/**
 * The elements in one that is made of such.
 * @throws {TypeError} If it is not.
 */
export function children(element: Element): Element[] {
  return elements(element.content);
}

/** Whether the length is written in the one way that DER permits (X.690, 10.1). */
export function hasShortestLength({ content, whole }: Element): boolean {
  const { length } = content;
  const octets = length < 0x80 ? 1 : 1 + Math.ceil(length.toString(16).length / 2);
  return whole.length === 1 + octets + length;
}

function elements(bytes: Buffer): Element[] {
  const list: Element[] = [];
  for (let at = 0; at < bytes.length;) {
    const tag = bytes[at] ?? 0;
    const short = bytes[at + 1] ?? 0x80;
    const size = short < 0x80 ? 0 : short - 0x80;
    if (short === 0x80 || size > 4 || at + 2 + size > bytes.length) throw malformed();
    const length = size === 0 ? short : bytes.readUIntBE(at + 2, size);
    const start = at + 2 + size;
    if (start + length > bytes.length) throw malformed();
    list.push({
      tag,
      content: bytes.subarray(start, start + length),
      whole: bytes.subarray(at, start + length),
    });
    at = start + length;
  }
  return list;
}

function malformed(): TypeError {
  return new TypeError("The bytes are not well-formed DER");
}
