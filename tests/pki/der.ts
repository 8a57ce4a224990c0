/** Encoders for the few ASN.1 types of certificates, as DER (X.690). Nothing here decodes. */
import { Buffer } from "node:buffer";

/** Returns a value with its tag and length in front; DER demands the shortest form of lengths. */
export function tagged(tag: number, ...contents: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(contents);
  return Buffer.concat([Buffer.from([tag, ...lengthOctets(content.length)]), content]);
}

export const sequence = (...values: readonly Uint8Array[]): Buffer => tagged(0x30, ...values);

/** Returns a SET OF with its values sorted by their octets. */
export const setOf = (...values: readonly Uint8Array[]): Buffer =>
  tagged(0x31, ...values.toSorted(Buffer.compare));

/** Wraps a value in a context-specific tag. */
export const explicit = (number: number, value: Uint8Array): Buffer => tagged(0xa0 | number, value);

/** Returns content with a context-specific tag in place of its own tag. */
export const implicit = (number: number, content: Uint8Array): Buffer => tagged(0x80 | number, content);

export const boolean = (value: boolean): Buffer => tagged(0x01, Buffer.from([value ? 0xff : 0x00]));

/** Encodes a non-negative integer from its octets, most significant first. */
export function integer(octets: Uint8Array): Buffer {
  let start = 0;
  while (start < octets.length - 1 && octets[start] === 0) start++;
  const significant = Buffer.from(octets.subarray(start));
  return tagged(0x02, (significant[0] ?? 0) >= 0x80 ? Buffer.of(0) : Buffer.alloc(0), significant);
}

export const bitString = (bits: Uint8Array, unusedBits = 0): Buffer =>
  tagged(0x03, Buffer.of(unusedBits), bits);

export const octetString = (octets: Uint8Array): Buffer => tagged(0x04, octets);

export const nothing = (): Buffer => tagged(0x05);

/** Encodes an object identifier from its dotted form, such as `2.5.4.3`. */
export function objectIdentifier(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split(".").map(Number);
  return tagged(0x06, Buffer.from([first * 40 + second, ...rest].flatMap(base128)));
}

export const utf8String = (text: string): Buffer => tagged(0x0c, Buffer.from(text, "utf8"));
export const printableString = (text: string): Buffer => tagged(0x13, Buffer.from(text, "latin1"));
export const ia5String = (text: string): Buffer => tagged(0x16, Buffer.from(text, "latin1"));

/** Encodes a moment in whole seconds, from 2050 on as GeneralizedTime (RFC 5280, 4.1.2.5). */
export function time(moment: Date): Buffer {
  const digits = moment.toISOString().replace(/\.\d+Z$/, "Z").replace(/[-:T]/g, "");
  return moment.getUTCFullYear() < 2050
    ? tagged(0x17, Buffer.from(digits.slice(2), "latin1"))
    : tagged(0x18, Buffer.from(digits, "latin1"));
}

/** Returns DER as PEM, in lines of 64 characters. */
export function pem(label: string, der: Uint8Array): string {
  const lines = Buffer.from(der).toString("base64").match(/.{1,64}/g) ?? [];
  return `-----BEGIN ${label}-----\n${lines.join("\n")}\n-----END ${label}-----\n`;
}

function lengthOctets(length: number): number[] {
  if (length < 0x80) return [length];
  const octets: number[] = [];
  for (let rest = length; rest > 0; rest = Math.floor(rest / 256)) octets.unshift(rest % 256);
  return [0x80 | octets.length, ...octets];
}

function base128(number: number): number[] {
  const digits = [number % 128];
  for (let rest = Math.floor(number / 128); rest > 0; rest = Math.floor(rest / 128)) {
    digits.unshift(0x80 | rest % 128);
  }
  return digits;
}
