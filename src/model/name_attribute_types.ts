/** Attribute types by lower-case label: RFC 4519, RFC 2985, and labels of certificate tools (`E`, `S`, `GN`, …). */
const LABELS: readonly (readonly [label: string, oid: string])[] = [
  ["cn", "2.5.4.3"],
  ["commonname", "2.5.4.3"],
  ["sn", "2.5.4.4"],
  ["surname", "2.5.4.4"],
  ["serialnumber", "2.5.4.5"],
  ["c", "2.5.4.6"],
  ["l", "2.5.4.7"],
  ["s", "2.5.4.8"],
  ["st", "2.5.4.8"],
  ["street", "2.5.4.9"],
  ["o", "2.5.4.10"],
  ["ou", "2.5.4.11"],
  ["t", "2.5.4.12"],
  ["title", "2.5.4.12"],
  ["description", "2.5.4.13"],
  ["businesscategory", "2.5.4.15"],
  ["postaladdress", "2.5.4.16"],
  ["postalcode", "2.5.4.17"],
  ["telephonenumber", "2.5.4.20"],
  ["name", "2.5.4.41"],
  ["gn", "2.5.4.42"],
  ["givenname", "2.5.4.42"],
  ["initials", "2.5.4.43"],
  ["generation", "2.5.4.44"],
  ["uniqueidentifier", "2.5.4.45"],
  ["dn", "2.5.4.46"],
  ["dnq", "2.5.4.46"],
  ["dnqualifier", "2.5.4.46"],
  ["pseudonym", "2.5.4.65"],
  ["role", "2.5.4.72"],
  ["organizationidentifier", "2.5.4.97"],
  ["uid", "0.9.2342.19200300.100.1.1"],
  ["userid", "0.9.2342.19200300.100.1.1"],
  ["mail", "0.9.2342.19200300.100.1.3"],
  ["dc", "0.9.2342.19200300.100.1.25"],
  ["e", "1.2.840.113549.1.9.1"],
  ["email", "1.2.840.113549.1.9.1"],
  ["emailaddress", "1.2.840.113549.1.9.1"],
  ["unstructuredname", "1.2.840.113549.1.9.2"],
  ["unstructuredaddress", "1.2.840.113549.1.9.8"],
  ["dateofbirth", "1.3.6.1.5.5.7.9.1"],
  ["placeofbirth", "1.3.6.1.5.5.7.9.2"],
  ["gender", "1.3.6.1.5.5.7.9.3"],
  ["countryofcitizenship", "1.3.6.1.5.5.7.9.4"],
  ["countryofresidence", "1.3.6.1.5.5.7.9.5"],
];

const OID_OF_LABEL: ReadonlyMap<string, string> = new Map(
  LABELS.flatMap(([label, oid]) => [[label, oid], [label.toUpperCase(), oid]]),
);

/** Comparison and spelling of values of a type (rest-api.md 2.6, steps 3 and 5). */
export interface Comparison {
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
  const dotted = /^(?:oid\.)?([0-2](?:\.(?:0|[1-9][0-9]{0,38})){1,40})$/i.exec(label);
  return dotted?.[1];
}

/** Returns the comparison for a dotted type. */
export function comparisonOf(type: string): Comparison {
  return COMPARISONS.get(type) ?? { label: type, as: "exact" };
}
