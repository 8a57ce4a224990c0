import { UnusableStore } from "./unusable_store.ts";

/** One value of a DER structure (X.690): just enough to find certificates in key stores. */
export class DerValue {
  /** @param tag Identifier octet, such as 0x30 for a sequence. */
  constructor(readonly tag: number, readonly content: Uint8Array) {}

  /** Tag, length and content, as DER has them. */
  whole(): Uint8Array {
    const { length } = this.content;
    const octets: number[] = [];
    for (let rest = length; length >= 0x80 && rest > 0; rest = Math.floor(rest / 256)) {
      octets.unshift(rest % 256);
    }
    const head = length < 0x80 ? [length] : [0x80 + octets.length, ...octets];
    const whole = new Uint8Array(1 + head.length + length);
    whole.set([this.tag, ...head]);
    whole.set(this.content, 1 + head.length);
    return whole;
  }

  /** The values in this one. */
  children(): DerValue[] {
    const found: DerValue[] = [];
    for (let rest = this.content; rest.length > 0;) {
      const { value, length } = readValue(rest);
      found.push(value);
      rest = rest.subarray(length);
    }
    return found;
  }

  /** @throws {UnusableStore} If there is no such child. */
  child(index: number): DerValue {
    const found = this.children()[index];
    if (found === undefined) throw damaged();
    return found;
  }

  /** Octets of an octet string, also of one in parts. */
  octets(): Uint8Array {
    if ((this.tag & 0x20) === 0) return this.content;
    const parts = this.children().map((part) => part.octets());
    const joined = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
    let offset = 0;
    for (const part of parts) {
      joined.set(part, offset);
      offset += part.length;
    }
    return joined;
  }

  /** A whole number that is not negative. */
  integer(): number {
    if (this.tag !== 0x02 || this.content.length === 0 || this.content.length > 5) throw damaged();
    return this.content.reduce((sum, octet) => sum * 256 + octet, 0);
  }

  /** An object identifier in dotted form. */
  objectId(): string {
    if (this.tag !== 0x06) throw damaged();
    const numbers: number[] = [];
    let number = 0;
    for (const octet of this.content) {
      number = number * 128 + (octet & 0x7f);
      if ((octet & 0x80) !== 0) continue;
      numbers.push(number);
      number = 0;
    }
    const [first = 0, ...rest] = numbers;
    const root = Math.min(2, Math.floor(first / 40));
    return [root, first - root * 40, ...rest].join(".");
  }
}

/** @throws {UnusableStore} If the bytes are not one DER value (and perhaps something behind it). */
export function readDer(bytes: Uint8Array): DerValue {
  return readValue(bytes).value;
}

function readValue(bytes: Uint8Array): { value: DerValue; length: number } {
  const [tag, first] = bytes;
  if (tag === undefined || first === undefined || (tag & 0x1f) === 0x1f) throw damaged();
  let start = 2;
  let size = first;
  if (first >= 0x80) {
    const octets = first & 0x7f;
    if (octets === 0 || octets > 4) throw damaged();
    start += octets;
    size = bytes.subarray(2, start).reduce((sum, octet) => sum * 256 + octet, 0);
  }
  const length = start + size;
  if (length > bytes.length) throw damaged();
  return { value: new DerValue(tag, bytes.subarray(start, length)), length };
}

function damaged(): UnusableStore {
  return new UnusableStore("expected a PKCS#12 key store, this file cannot be read as one");
}
