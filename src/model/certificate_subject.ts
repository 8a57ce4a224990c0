import { X509Certificate } from "node:crypto";
import { type DerElement, readElement } from "./der_element.ts";
import { escapeNameValue } from "./distinguished_name.ts";

/** Returns a subject as RFC 2253 text, from the DER: node:crypto escapes nothing, so values may imitate separators. */
export function certificateSubject(certificate: X509Certificate | string | Uint8Array): string {
  const { raw } = certificate instanceof X509Certificate ? certificate : new X509Certificate(certificate);
  const names = subjectOf(raw).children().map((relative) => relative.children().map(attribute).join("+"));
  return names.reverse().join(",");
}

/** Returns the subject, or `CN=` and the first alternative name. @throws {TypeError} If it is no certificate. */
export function certificateName(certificate: X509Certificate | string | Uint8Array): string {
  const parsed = certificate instanceof X509Certificate ? certificate : new X509Certificate(certificate);
  const subject = certificateSubject(parsed);
  if (subject !== "") return subject;
  const [, name] = /^(?:DNS|IP Address|URI|email):([^,"]+)/.exec(parsed.subjectAltName ?? "") ?? [];
  return name === undefined ? "" : `CN=${escapeNameValue(name)}`;
}

/** RFC 2253 keywords by the hexadecimal form of their identifier. */
const KEYWORDS: ReadonlyMap<string, string> = new Map([
  ["550403", "CN"],
  ["550406", "C"],
  ["550407", "L"],
  ["550408", "ST"],
  ["550409", "STREET"],
  ["55040a", "O"],
  ["55040b", "OU"],
  ["0992268993f22c640101", "UID"],
  ["0992268993f22c640119", "DC"],
]);

function attribute(der: DerElement): string {
  const [type, value] = der.children();
  if (type === undefined || value === undefined) throw malformed();
  const keyword = KEYWORDS.get(type.content.toString("hex"));
  const text = keyword === undefined ? undefined : textOf(value);
  if (keyword !== undefined && text !== undefined) return `${keyword}=${escapeNameValue(text)}`;
  return `${keyword ?? type.objectId()}=#${value.whole.toString("hex")}`;
}

function textOf({ tag, content }: DerElement): string | undefined {
  switch (tag) {
    case 0x0c: // UTF8String
      return decode(content, "utf-8");
    case 0x12: // NumericString
    case 0x13: // PrintableString
    case 0x16: // IA5String
      return content.every((byte) => byte < 0x80) ? content.toString("latin1") : undefined;
    case 0x14: // TeletexString, in practice ISO 8859-1
      return content.toString("latin1");
    case 0x1e: // BMPString
      return decode(content, "utf-16be");
    default:
      return undefined;
  }
}

function decode(bytes: Uint8Array, encoding: "utf-8" | "utf-16be"): string | undefined {
  try {
    return new TextDecoder(encoding, { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (error) {
    if (error instanceof TypeError) return undefined;
    throw error;
  }
}

/** Finds `tbsCertificate.subject` (RFC 5280, 4.1); only version 1 certificates omit the version. */
function subjectOf(certificate: Uint8Array): DerElement {
  const fields = readElement(certificate).child(0).children();
  const subject = fields[fields[0]?.tag === 0xa0 ? 5 : 4];
  if (subject?.tag !== 0x30) throw malformed();
  return subject;
}

function malformed(): TypeError {
  return new TypeError("the certificate's subject is not well-formed");
}
