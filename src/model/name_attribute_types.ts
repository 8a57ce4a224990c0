import { attempt } from "./attempt.ts";
import { type DerElement, encodeElement, InvalidDer, readElement } from "./der_element.ts";

/** Labels of attribute types: RFC 4519, RFC 2985, and those of certificate tools (`E`, `S`, `GN`, …). */
const LABELS: readonly (readonly [oid: string, labels: string])[] = [
  ["2.5.4.3", "cn commonname"],
  ["2.5.4.4", "sn surname"],
  ["2.5.4.5", "serialnumber"],
  ["2.5.4.6", "c"],
  ["2.5.4.7", "l"],
  ["2.5.4.8", "s st"],
  ["2.5.4.9", "street"],
  ["2.5.4.10", "o"],
  ["2.5.4.11", "ou"],
  ["2.5.4.12", "t title"],
  ["2.5.4.13", "description"],
  ["2.5.4.15", "businesscategory"],
  ["2.5.4.16", "postaladdress"],
  ["2.5.4.17", "postalcode"],
  ["2.5.4.20", "telephonenumber"],
  ["2.5.4.41", "name"],
  ["2.5.4.42", "gn givenname"],
  ["2.5.4.43", "initials"],
  ["2.5.4.44", "generation"],
  ["2.5.4.45", "uniqueidentifier"],
  ["2.5.4.46", "dn dnq dnqualifier"],
  ["2.5.4.65", "pseudonym"],
  ["2.5.4.72", "role"],
  ["2.5.4.97", "organizationidentifier"],
  ["0.9.2342.19200300.100.1.1", "uid userid"],
  ["0.9.2342.19200300.100.1.3", "mail"],
  ["0.9.2342.19200300.100.1.25", "dc"],
  ["1.2.840.113549.1.9.1", "e email emailaddress"],
  ["1.2.840.113549.1.9.2", "unstructuredname"],
  ["1.2.840.113549.1.9.8", "unstructuredaddress"],
  ["1.3.6.1.5.5.7.9.1", "dateofbirth"],
  ["1.3.6.1.5.5.7.9.2", "placeofbirth"],
  ["1.3.6.1.5.5.7.9.3", "gender"],
  ["1.3.6.1.5.5.7.9.4", "countryofcitizenship"],
  ["1.3.6.1.5.5.7.9.5", "countryofresidence"],
];

const OID_OF_LABEL: ReadonlyMap<string, string> = new Map(
  LABELS.flatMap(([oid, labels]) =>
    labels.split(" ").flatMap((label) => [[label, oid], [label.toUpperCase(), oid]] as const)
  ),
);

/** Comparison and spelling of values of a type (rest-api.md 2.6, steps 3 and 5). */
interface Comparison {
  readonly label: string;
  /** `folded`: text without case and blanks; `lower case`: encoded after lower-casing; `exact`: encoded unchanged. */
  readonly as: "folded" | "lower case" | "exact";
}

const COMPARISONS: ReadonlyMap<string, Comparison> = new Map<string, Comparison>([
  ["2.5.4.3", { label: "cn", as: "folded" }],
  ["2.5.4.6", { label: "c", as: "folded" }],
  ["2.5.4.7", { label: "l", as: "folded" }],
  ["2.5.4.8", { label: "st", as: "folded" }],
  ["2.5.4.9", { label: "street", as: "folded" }],
  ["2.5.4.10", { label: "o", as: "folded" }],
  ["2.5.4.11", { label: "ou", as: "folded" }],
  ["0.9.2342.19200300.100.1.1", { label: "uid", as: "folded" }],
  ["0.9.2342.19200300.100.1.25", { label: "dc", as: "lower case" }],
  ["1.2.840.113549.1.9.1", { label: "1.2.840.113549.1.9.1", as: "lower case" }],
]);

/** Returns the identifier of `CN`, `2.5.4.3` or `OID.2.5.4.3`; `undefined` if unknown. */
export function attributeType(label: string): string | undefined {
  const known = OID_OF_LABEL.get(label) ?? OID_OF_LABEL.get(label.toLowerCase());
  if (known !== undefined) return known;
  return /^(?:oid\.)?([0-2](?:\.(?:0|[1-9][0-9]{0,38})){1,40})$/i.exec(label)?.[1];
}

/** Returns the comparison for a dotted type. */
export function comparisonOf(type: string): Comparison {
  return COMPARISONS.get(type) ?? { label: type, as: "exact" };
}

const UTF8_STRING = 0x0c;
const PRINTABLE_STRING = 0x13;
const IA5_STRING = 0x16;

/** Encodes a text as hexadecimal DER: the attribute's narrow string type, or UTF8String (rest-api.md 2.6, step 5). */
export function encodeText(text: string, narrow: "printable" | "ia5"): string {
  const content = new TextEncoder().encode(text);
  // deno-lint-ignore no-control-regex
  const fits = narrow === "ia5" ? /^[\x00-\x7f]*$/.test(text) : /^[A-Za-z0-9 '()+,./:=?-]*$/.test(text);
  const tag = !fits ? UTF8_STRING : narrow === "ia5" ? IA5_STRING : PRINTABLE_STRING;
  return encodeElement(tag, content).toString("hex");
}

/** Decodes a DER value whose type compares as text; `undefined`: compare the encoding. */
export function decodeText(der: string, compared: Comparison["as"]): string | undefined {
  const element = elementOf(der);
  if (compared === "exact" || element === undefined) return undefined;
  const { tag, content } = element;
  const textual = tag === UTF8_STRING || tag === PRINTABLE_STRING ||
    (tag === IA5_STRING && compared === "lower case");
  if (!textual) return undefined;
  return decodeStrictly(content);
}

/** Decodes text with its byte order mark; `undefined` if it is malformed. */
export function decodeStrictly(
  bytes: Uint8Array,
  encoding: "utf-8" | "utf-16be" = "utf-8",
): string | undefined {
  const decoder = new TextDecoder(encoding, { fatal: true, ignoreBOM: true });
  return attempt(() => decoder.decode(bytes), TypeError, () => undefined);
}

/** Parses hexadecimal DER of exactly one element; `undefined` if it is not that. */
export function elementOf(der: string): DerElement | undefined {
  if (!/^(?:[0-9a-f]{2})*$/.test(der)) return undefined;
  const bytes = Uint8Array.fromHex(der);
  const element = attempt(() => readElement(bytes), InvalidDer, () => undefined);
  return element?.whole.length === bytes.length && element.hasShortestLength() ? element : undefined;
}
