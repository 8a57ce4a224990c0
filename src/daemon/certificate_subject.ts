import type { X509Certificate } from "node:crypto";

/**
 * The subject of a certificate as RFC 4514 text that loses nothing: types as dotted numbers and values as `#` with
 * their encoding in hex, which {@link import("../model/distinguished_name.ts").sameName} compares like any spelling.
 * (The `subject` of the platform does not escape its separators, so a value could pass for several parts of a name.)
 * @throws {RangeError} If the encoding is not that of a certificate.
 */
export function certificateSubject(certificate: X509Certificate): string {
  const [content] = children(certificate.raw);
  if (content === undefined) throw new RangeError("The certificate is empty");
  const fields = children(content.whole);
  // RFC 5280, 4.1: version (absent in version 1), serialNumber, signature, issuer, validity, subject.
  const subject = fields[fields[0]?.tag === EXPLICIT_0 ? 5 : 4];
  if (subject === undefined) throw new RangeError("The certificate has no subject");
  return children(subject.whole).reverse().map(relativeName).join(",");
}

interface Element {
  readonly tag: number;
  /** Tag, length and content. */
  readonly whole: Uint8Array;
  readonly bytes: Uint8Array;
}

const EXPLICIT_0 = 0xa0;

function relativeName(set: Element): string {
  return children(set.whole).map((pair) => {
    const [type, value] = children(pair.whole);
    if (type === undefined || value === undefined) {
      throw new RangeError("The certificate has a malformed name");
    }
    return `${dotted(type.bytes)}=#${value.whole.toHex()}`;
  }).join("+");
}

/** The elements inside one element of DER. */
function children(whole: Uint8Array): Element[] {
  const elements: Element[] = [];
  const { bytes } = element(whole);
  for (let rest = bytes; rest.length > 0;) {
    const next = element(rest);
    elements.push(next);
    rest = rest.subarray(next.whole.length);
  }
  return elements;
}

function element(from: Uint8Array): Element {
  const [tag, first] = from;
  if (tag === undefined || first === undefined) throw new RangeError("The certificate ends too early");
  const lengthBytes = first < 0x80 ? 0 : first & 0x7f;
  if (lengthBytes > 4) throw new RangeError("The certificate has a part that is too long");
  let length = lengthBytes === 0 ? first : 0;
  for (const byte of from.subarray(2, 2 + lengthBytes)) length = length * 256 + byte;
  const start = 2 + lengthBytes;
  if (start + length > from.length) throw new RangeError("The certificate ends too early");
  return { tag, whole: from.subarray(0, start + length), bytes: from.subarray(start, start + length) };
}

/** An object identifier: base 128, the first two numbers in one. */
function dotted(bytes: Uint8Array): string {
  const numbers: number[] = [];
  let number = 0;
  for (const byte of bytes) {
    number = number * 128 + (byte & 127);
    if (byte < 128) {
      numbers.push(number);
      number = 0;
    }
  }
  const [first = 0, ...rest] = numbers;
  const root = Math.min(2, Math.floor(first / 40));
  return [root, first - root * 40, ...rest].join(".");
}
