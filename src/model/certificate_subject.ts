import { X509Certificate } from "node:crypto";
import { type DerElement, readElement } from "./der_element.ts";
import { escapeNameValue } from "./distinguished_name.ts";
import { comparisonOf, decodeStrictly } from "./name_attribute_types.ts";

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

function attribute(der: DerElement): string {
  const [type, value] = der.children();
  if (type === undefined || value === undefined) throw malformed();
  const id = type.objectId();
  const { label } = comparisonOf(id);
  const keyword = label === id ? undefined : label.toUpperCase(); // RFC 2253, 2.3
  const text = keyword && textOf(value);
  return text === undefined
    ? `${keyword ?? id}=#${value.whole.toString("hex")}`
    : `${keyword}=${escapeNameValue(text)}`;
}

function textOf({ tag, content }: DerElement): string | undefined {
  switch (tag) {
    case 0x0c: // UTF8String
      return decodeStrictly(content);
    case 0x12: // NumericString
    case 0x13: // PrintableString
    case 0x16: // IA5String
      return content.every((byte) => byte < 0x80) ? content.toString("latin1") : undefined;
    case 0x14: // TeletexString, in practice ISO 8859-1
      return content.toString("latin1");
    case 0x1e: // BMPString
      return decodeStrictly(content, "utf-16be");
    default:
      return undefined;
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
