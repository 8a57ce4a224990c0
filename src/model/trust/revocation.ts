import { Buffer } from "node:buffer";
import { createHash, type X509Certificate } from "node:crypto";
import { certificateFacts } from "./certificate_facts.ts";
import { BoundedMap } from "../bounded_map.ts";
import { type DerElement, ElementWalk, readElement } from "../der_element.ts";
import { isListSignedBy } from "./signed_by.ts";

/** Revocation lists and mode; plain data for `postMessage`. */
export interface Revocation {
  /** `REQUIRE`: certificates need a current list signed by their issuer; `IF_VALID`: such lists apply if present. */
  readonly mode: "IF_VALID" | "REQUIRE";
  readonly lists: readonly string[]; // RFC 5280, 5; DER as base64
}

/** Parsed but unverified revocation list. */
interface RevocationList {
  readonly from: number; // validity in milliseconds since the epoch; `Infinity` without `nextUpdate`
  readonly to: number;
  readonly issuer: string; // digest of the issuer's name
  readonly serials: RevokedSerials;
  readonly der: Buffer;
}

const READ = new WeakMap<readonly string[], readonly RevocationList[]>();
const SIGNED = new WeakMap<RevocationList, BoundedMap<string, boolean>>();
const ISSUERS_PER_LIST = 64;
const ANSWERS_PER_LIST = 10_000;

/** Finds a revoked certificate of a path from `findPath`, except for the anchor, and why: `the certificate of …`. */
export function findRevoked(
  path: readonly X509Certificate[],
  { mode, lists }: Revocation,
  at: number,
) {
  const all = readLists(lists);
  for (const [i, certificate] of path.entries()) {
    const issuer = path[i + 1];
    if (issuer === undefined) break;
    const own = all.filter((list) => list.from <= at && at <= list.to && isOf(list, issuer));
    if (own.some(({ serials }) => serials.has(referenceOf(certificate).serial))) {
      return { certificate, why: "was revoked by its authority" };
    }
    // A list of an issuer without `cRLSign` proves nothing good (RFC 5280, 6.3.3 (f)), but it may revoke.
    if (mode === "REQUIRE" && (own.length === 0 || certificateFacts(issuer).signsLists === false)) {
      return { certificate, why: "cannot be held against a valid revocation list of its authority" };
    }
  }
  return undefined;
}

interface CertificateReference {
  readonly issuer: string; // digest of the encoded issuer name
  readonly serial: string; // hexadecimal, without leading zeros
}

/** Returns what {@link isRevoked} needs to check a certificate later. */
export function referenceOf({ raw }: X509Certificate): CertificateReference {
  const fields = readElement(raw).children()[0]?.children() ?? [];
  const [, , issuer] = fields[0]?.tag === 0x02 ? fields : fields.slice(1);
  if (issuer === undefined) throw new TypeError("no certificate");
  const serial = fields.find(({ tag }) => tag === 0x02)?.content ?? Buffer.alloc(0);
  return { issuer: digestOf(issuer), serial: serial.toString("hex").replace(/^(?:00)+/, "") };
}

/** Reports whether a certificate was revoked after it was accepted; the operator's lists can only reject here. */
export function isRevoked(
  { issuer, serial }: CertificateReference,
  { mode, lists }: Revocation,
  at: number,
): boolean {
  const own = readLists(lists).filter((list) => list.from <= at && at <= list.to && list.issuer === issuer);
  return own.some(({ serials }) => serials.has(serial)) || (own.length === 0 && mode === "REQUIRE");
}

function digestOf({ whole }: DerElement): string {
  return createHash("sha256").update(whole).digest("base64url").slice(0, 22);
}

/** Parses a revocation list. Refuses partial and indirect lists (critical extension). @throws {TypeError} */
export function readRevocationList(bytes: Uint8Array): RevocationList {
  const whole = readElement(bytes);
  const [signed] = whole.children();
  const fields = signed?.children() ?? [];
  const [version] = fields;
  const [, issuer, from, ...rest] = version?.tag === 0x02 ? fields.slice(1) : fields;
  const next = rest.find((field) => field.tag === 0x17 || field.tag === 0x18);
  const revoked = rest.find(({ tag }) => tag === 0x30);
  const [extensions] = rest.filter(({ tag }) => tag === 0xa0).flatMap((field) => field.children());
  if (issuer === undefined || from === undefined) throw new TypeError("no revocation list");
  if (extensions !== undefined && extensions.children().some(isCritical)) {
    throw new TypeError("it does not cover exactly the certificates of its authority");
  }
  return {
    from: momentOf(from),
    to: next === undefined ? Infinity : momentOf(next),
    issuer: digestOf(issuer),
    serials: new RevokedSerials(revoked?.content ?? Buffer.alloc(0)),
    der: whole.whole,
  };
}

/** Serial numbers of a list, kept as bytes: lists may have 100,000 entries, few of which are ever looked up. */
class RevokedSerials {
  readonly #known = new BoundedMap<string, boolean>(ANSWERS_PER_LIST);

  /** @param entries Content of `revokedCertificates` (RFC 5280, 5.1). @throws {TypeError} If malformed or indirect. */
  constructor(readonly entries: Buffer) {
    const entry = new ElementWalk(entries);
    const field = new ElementWalk(entries);
    while (entry.next()) {
      field.enter(entry);
      if (!field.next() || field.tag !== 0x02) throw new TypeError("no revocation list");
      if (!field.next()) continue;
      if (field.next() && hasCritical(field)) {
        throw new TypeError("it lists certificates of other authorities");
      }
      while (field.next());
    }
  }

  has(serial: string): boolean {
    return this.#known.getOrInsertComputed(serial, () => this.#find(Buffer.from(serial, "hex")));
  }

  #find(serial: Buffer): boolean {
    const { entries } = this;
    const entry = new ElementWalk(entries);
    const field = new ElementWalk(entries);
    while (entry.next()) {
      field.enter(entry);
      field.next();
      let { start } = field;
      while (start < field.end && entries[start] === 0) start++;
      if (serial.compare(entries, start, field.end) === 0) return true;
    }
    return false;
  }
}

function hasCritical(more: ElementWalk): boolean {
  const extension = new ElementWalk(more.bytes, more.start, more.end);
  const field = new ElementWalk(more.bytes);
  while (extension.next()) {
    field.enter(extension);
    if (!field.next() || !field.next()) continue;
    if (field.tag === 0x01 && field.end > field.start && more.bytes[field.start] !== 0) return true;
  }
  return false;
}

/** Reports whether an issuer's key signed a list. */
export function isOf(list: RevocationList, issuer: X509Certificate): boolean {
  const known = SIGNED.getOrInsertComputed(list, () => new BoundedMap<string, boolean>(ISSUERS_PER_LIST));
  return known.getOrInsertComputed(issuer.fingerprint256, () => isListSignedBy(list.der, issuer));
}

function readLists(lists: readonly string[]): readonly RevocationList[] {
  const read = (list: string) => readRevocationList(Buffer.from(list, "base64"));
  return READ.getOrInsertComputed(lists, () => lists.map(read));
}

function isCritical(extension: DerElement): boolean {
  const [, critical] = extension.children();
  return critical?.tag === 0x01 && critical.content[0] !== 0;
}

/** Parses UTCTime or GeneralizedTime (RFC 5280, 4.1.2.5). */
function momentOf({ tag, content }: DerElement): number {
  const digits = content.toString("latin1");
  const [, year = "", month, day, hour, minute, second] =
    /^(\d{4}|\d{2})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)Z$/.exec(digits) ?? [];
  const short = tag === 0x17 && year.length === 2;
  const full = short ? (Number(year) < 50 ? `20${year}` : `19${year}`) : year;
  const moment = Date.parse(`${full}-${month}-${day}T${hour}:${minute}:${second}Z`);
  if (Number.isNaN(moment) || (tag !== 0x17 && tag !== 0x18)) throw new TypeError("no revocation list");
  return moment;
}
