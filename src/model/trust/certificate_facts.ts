import { createHash, type KeyObject, type X509Certificate } from "node:crypto";
import { type DerElement, readElement } from "../der_element.ts";

/** Statements of a certificate about its use (RFC 5280, 4.2.1). */
export interface CertificateFacts {
  readonly version: number; // 1, 2 or 3; only 3 has extensions
  readonly authority?: boolean; // basic constraints; absent: no statement
  readonly pathLength?: number; // path length constraint; absent: unlimited
  readonly signsCertificates?: boolean; // key usage `keyCertSign`; absent: no key usage
  readonly signsLists?: boolean; // likewise `cRLSign`
  readonly purposes?: readonly string[]; // extended key usages as hexadecimal DER; absent: all
  /** Whether it has an unknown critical extension, name constraints, or a repeated extension. */
  readonly hasUnsupportedExtensions: boolean;
  /** Whether the public key's encoding is valid, as far as TLS libraries check it. */
  readonly hasWellFormedKey: boolean;
  readonly keyDigest: string; // of the public key, which a renewed certificate may keep
}

export type Purpose = "serverAuth" | "clientAuth";

const PURPOSES: Readonly<Record<Purpose, string>> = {
  serverAuth: "2b06010505070301",
  clientAuth: "2b06010505070302",
};

const ANY_PURPOSE = "551d2500"; // `anyExtendedKeyUsage`

const BASIC_CONSTRAINTS = "551d13";
const KEY_USAGE = "551d0f";
const EXTENDED_KEY_USAGE = "551d25";
const NAME_CONSTRAINTS = "551d1e";

/** Extensions that may be critical, because we read them or may ignore them. */
const SUPPORTED = new Set([
  BASIC_CONSTRAINTS,
  KEY_USAGE,
  EXTENDED_KEY_USAGE,
  "551d11", // subject alternative names
  "551d20", // no policy is required
]);

/** Reads a certificate's statements. @throws {TypeError} If it is malformed. */
export function certificateFacts({ raw }: X509Certificate): CertificateFacts {
  const fields = readElement(raw).child(0).children();
  const [first] = fields;
  const explicit = first?.tag === 0xa0;
  const version = explicit && first !== undefined ? 1 + (first.children()[0]?.content.at(-1) ?? 0) : 1;
  const [, , , , , key, ...rest] = explicit ? fields.slice(1) : fields;
  const list = rest.find(({ tag }) => tag === 0xa3);
  const extensions = version === 3 && list !== undefined ? readExtensions(list) : [];
  const value = (id: string) => extensions.find((extension) => extension.id === id)?.value;
  const constraints = value(BASIC_CONSTRAINTS);
  const [isAuthority, pathLength] = constraints === undefined ? [] : readElement(constraints).children();
  const usage = value(KEY_USAGE);
  const purposes = value(EXTENDED_KEY_USAGE);
  const bits = usage === undefined ? undefined : readElement(usage).content[1] ?? 0;
  return {
    version,
    authority: constraints && isAuthority?.tag === 0x01 && isAuthority.content[0] !== 0,
    pathLength: pathLength && (pathLength.content.at(-1) ?? 0),
    signsCertificates: bits === undefined ? undefined : (bits & 0x04) !== 0,
    signsLists: bits === undefined ? undefined : (bits & 0x02) !== 0,
    purposes: purposes && readElement(purposes).children().map(({ content }) => content.toString("hex")),
    hasUnsupportedExtensions: new Set(extensions.map(({ id }) => id)).size < extensions.length ||
      extensions.some(({ id, critical }) => (critical && !SUPPORTED.has(id)) || id === NAME_CONSTRAINTS),
    hasWellFormedKey: key !== undefined && isWellFormedKey(key),
    keyDigest: createHash("sha256").update(key?.whole ?? "").digest("base64url"),
  };
}

/** Reports whether a certificate permits a purpose, or states no purposes. */
export function permits({ purposes }: CertificateFacts, purpose: Purpose): boolean {
  return purposes === undefined || purposes.includes(PURPOSES[purpose]) || purposes.includes(ANY_PURPOSE);
}

function readExtensions(list: DerElement) {
  const [sequence] = list.children();
  return (sequence === undefined ? [] : sequence.children()).map((extension) => {
    const [id, ...rest] = extension.children();
    const value = rest.at(-1);
    if (id === undefined || value === undefined) throw new TypeError("an extension is not well-formed");
    const critical = rest.length > 1 && rest[0]?.content[0] !== 0;
    return { id: id.content.toString("hex"), critical, value: value.content };
  });
}

/** SubjectPublicKeyInfo ::= SEQUENCE { algorithm SEQUENCE, key BIT STRING of whole octets } (RFC 5280, 4.1). */
function isWellFormedKey(info: DerElement): boolean {
  const [algorithm, key, ...more] = info.children();
  return algorithm?.tag === 0x30 && key?.tag === 0x03 && more.length === 0 && key.content[0] === 0 &&
    [info, algorithm, key].every((element) => element.hasShortestLength());
}

/** Validity period, inclusive, in milliseconds since the epoch. */
export interface Validity {
  readonly from: number;
  readonly to: number;
}

const DAY_MS = 86_400_000;

/** Returns a certificate's validity period. */
export function validityOf({ validFromDate, validToDate }: X509Certificate): Validity {
  return { from: validFromDate.getTime(), to: validToDate.getTime() };
}

/** @param at Milliseconds since the epoch. */
export function isValidAt({ from, to }: Validity, at: number): boolean {
  return from <= at && at <= to;
}

/** Reports whether a validity ends within days, or within its last third if that is less. */
export function endsSoon({ from, to }: Validity, at: number, days: number): boolean {
  return to - at < Math.min(days * DAY_MS, (to - from) / 3);
}

/** Describes a validity for the operator: current, ending soon, or over. */
export function describeValidity(
  { from, to }: Validity,
  at: number,
): { readonly kind: "valid" | "ending" | "invalid"; readonly text: string } {
  const day = (date: number) => new Date(date).toISOString().slice(0, 10);
  if (!(from <= at)) return { kind: "invalid", text: `is not valid before ${day(from)}` };
  if (!(at <= to)) return { kind: "invalid", text: `has expired on ${day(to)}` };
  if (endsSoon({ from, to }, at, 7)) return { kind: "ending", text: `expires on ${day(to)}` };
  return { kind: "valid", text: `is valid until ${day(to)}` };
}

/** Shortest RSA keys in bits that sign tokens (RFC 7518, 3.3) and that TLS accepts. */
export const MIN_RSA_BITS = 2048;

/** Longest RSA keys in bits that Deno 2.9.6 reads. */
export const MAX_RSA_BITS = 4096;

/** Description of usable keys for messages. */
export const USABLE_KEYS =
  `a key of P-256, P-384, P-521 or Ed25519, or of RSA with ${MIN_RSA_BITS} to ${MAX_RSA_BITS} bits`;

/** Returns a certificate's public key, if signatures with it can be verified. */
export function usableKeyOf(certificate: X509Certificate): KeyObject | undefined {
  try {
    const { publicKey } = certificate;
    publicKey.export({ type: "spki", format: "der" });
    return publicKey;
  } catch {
    return undefined;
  }
}

/** ECDSA algorithms (RFC 7518, 3.4) by node:crypto's curve names. */
const CURVES: ReadonlyMap<string | undefined, readonly string[]> = new Map([
  ["prime256v1", ["ES256"]],
  ["secp384r1", ["ES384"]],
  ["secp521r1", ["ES512"]],
]);

/** Returns the names of a key's algorithm, the first for signing; empty if it is unsuitable. */
export function algorithmsOf(key: KeyObject): readonly string[] {
  const { modulusLength = 0, namedCurve } = key.asymmetricKeyDetails ?? {};
  switch (key.asymmetricKeyType) {
    case "rsa":
      return modulusLength < MIN_RSA_BITS ? [] : ["RS256"];
    case "ed25519":
      return ["EdDSA", "Ed25519"];
    case "ec":
      return CURVES.get(namedCurve) ?? [];
    default:
      return [];
  }
}
