import type { Buffer } from "node:buffer";
import * as der from "./der.ts";

/** Object identifier and string encoder of each attribute type. */
const ATTRIBUTE_TYPES: ReadonlyMap<string, readonly [string, (text: string) => Buffer]> = new Map([
  ["C", ["2.5.4.6", der.printableString]],
  ["CN", ["2.5.4.3", der.utf8String]],
  ["DC", ["0.9.2342.19200300.100.1.25", der.ia5String]],
  ["EMAILADDRESS", ["1.2.840.113549.1.9.1", der.ia5String]],
  ["GIVENNAME", ["2.5.4.42", der.utf8String]],
  ["L", ["2.5.4.7", der.utf8String]],
  ["O", ["2.5.4.10", der.utf8String]],
  ["OU", ["2.5.4.11", der.utf8String]],
  ["SERIALNUMBER", ["2.5.4.5", der.printableString]],
  ["SN", ["2.5.4.4", der.utf8String]],
  ["ST", ["2.5.4.8", der.utf8String]],
  ["STREET", ["2.5.4.9", der.utf8String]],
  ["UID", ["0.9.2342.19200300.100.1.1", der.utf8String]],
]);

/**
 * Encodes a name from its text, most specific part first (`CN=AUTH,O=UNICORE,C=EU`); DER has that part last.
 * Follows RFC 4514: `+` joins values of one part, `\` escapes a character or a UTF-8 octet in hexadecimal.
 * @throws {SyntaxError} For a part without `=` or with an attribute type that is not in the table.
 */
export function distinguishedName(text: string): Buffer {
  const parts = text.trim() === "" ? [] : split(text, ",");
  return der.sequence(...parts.reverse().map((part) => der.setOf(...split(part, "+").map(attribute))));
}

function attribute(text: string): Buffer {
  const equals = text.indexOf("=");
  const type = ATTRIBUTE_TYPES.get(text.slice(0, Math.max(equals, 0)).trim().toUpperCase());
  if (type === undefined) throw new SyntaxError(`Not a known attribute with its value: ${text}`);
  const [identifier, write] = type;
  return der.sequence(der.objectIdentifier(identifier), write(unescape(text.slice(equals + 1).trim())));
}

/** Splits at separators that are not escaped. */
function split(text: string, separator: string): string[] {
  const parts = [""];
  for (const token of text.match(/\\.|[^\\]/gsu) ?? []) {
    if (token === separator) parts.push("");
    else parts.push((parts.pop() ?? "") + token);
  }
  return parts;
}

function unescape(text: string): string {
  const percent = (octets: string) => octets.replaceAll("\\", "%");
  return text.replace(/(?:\\[0-9a-fA-F]{2})+/g, (octets) => decodeURIComponent(percent(octets)))
    .replace(/\\(.)/gsu, "$1");
}
