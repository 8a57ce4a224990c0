import { Buffer } from "node:buffer";
import { createHash, type X509Certificate } from "node:crypto";
import { BoundedMap } from "../bounded_map.ts";
import { type DerElement, ElementWalk, readElement } from "../der_element.ts";
import { isListSignedBy } from "./signed_by.ts";

/** Which certificates their authorities have revoked; plain data, so that it can be posted. */
export interface Revocation {
  /**
   * `REQUIRE`: without a list that is signed by the issuer and not out of date, a certificate does not count;
   * `IF_VALID`: such a list is minded where there is one.
   */
  readonly mode: "IF_VALID" | "REQUIRE";
  /** Revocation lists (RFC 5280, 5), DER as base64. */
  readonly lists: readonly string[];
}

/** A revocation list, read but not yet believed. */
interface RevocationList {
  /** When it was made, and until when it holds, in milliseconds since the epoch; `Infinity` if it does not say. */
  readonly from: number;
  readonly to: number;
  /** Digest of its authority's name. */
  readonly issuer: string;
  readonly serials: RevokedSerials;
  readonly der: Buffer;
}

/** A certificate that does not count, and why: what follows `the certificate of …`. */
interface Revoked {
  readonly certificate: X509Certificate;
  readonly why: string;
}

/** Lists by the array they came in, and whether a certificate's key signed one of them. */
const READ = new WeakMap<readonly string[], readonly RevocationList[]>();
const SIGNED = new WeakMap<RevocationList, BoundedMap<string, boolean>>();
const ISSUERS_PER_LIST = 64;
const ANSWERS_PER_LIST = 10_000;

/**
 * Looks for a certificate of a way that its issuer has revoked. The anchor has no issuer; who is trusted is up to the
 * operator.
 * @param way As `findPath` gives it: each certificate is followed by its issuer.
 * @param at Milliseconds since the epoch.
 */
export function findRevoked(
  way: readonly X509Certificate[],
  { mode, lists }: Revocation,
  at: number,
): Revoked | undefined {
  const all = readLists(lists);
  for (const [i, certificate] of way.entries()) {
    const issuer = way[i + 1];
    if (issuer === undefined) break;
    const own = all.filter((list) => list.from <= at && at <= list.to && isOf(list, issuer));
    if (own.some(({ serials }) => serials.has(serialOf(certificate)))) {
      return { certificate, why: "was revoked by its authority" };
    }
    if (own.length === 0 && mode === "REQUIRE") {
      return { certificate, why: "cannot be held against a valid revocation list of its authority" };
    }
  }
  return undefined;
}

/** A certificate as revocation lists know it, where there is no more left of it. */
interface CertificateReference {
  /** Digest of the issuer's name as it is encoded. */
  readonly issuer: string;
  /** Hexadecimal, without leading zeros. */
  readonly serial: string;
}

/** Returns what is to be remembered of a certificate, so that {@link isRevoked} can tell later. */
export function referenceOf({ raw }: X509Certificate): CertificateReference {
  const fields = readElement(raw).children()[0]?.children() ?? [];
  const [, , issuer] = fields[0]?.tag === 0x02 ? fields : fields.slice(1);
  if (issuer === undefined) throw new TypeError("no certificate");
  return { issuer: digestOf(issuer), serial: serialIn(fields) };
}

/**
 * Returns whether a certificate that was good counts no more by the lists of today. Nothing of it is left that shows who signed
 * a list: the lists are the operator's own files, and here they can end something, but let in nobody.
 * @param at Milliseconds since the epoch.
 */
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

/**
 * Reads a revocation list. One that speaks of a part of an authority's certificates, or of others' (a critical
 * extension says so), is none that we can use.
 * @throws {TypeError} If the bytes are none, with what is wrong.
 */
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
    throw new TypeError("it does not speak of all certificates of its authority alone");
  }
  return {
    from: momentOf(from),
    to: next === undefined ? Infinity : momentOf(next),
    issuer: digestOf(issuer),
    serials: new RevokedSerials(revoked?.content ?? Buffer.alloc(0)),
    der: whole.whole,
  };
}

/**
 * The serial numbers in a revocation list. They stay in its bytes: a list has a hundred thousand of them and more, of which
 * hardly any is ever asked for, and it is read in one piece.
 */
class RevokedSerials {
  /** What was found for those who were asked for last. */
  readonly #known = new BoundedMap<string, boolean>(ANSWERS_PER_LIST);

  /**
   * @param entries The content of `revokedCertificates` (RFC 5280, 5.1).
   * @throws {TypeError} If they are none, or speak of certificates of other authorities.
   */
  constructor(readonly entries: Buffer) {
    const entry = new ElementWalk(entries);
    const field = new ElementWalk(entries);
    while (entry.next()) {
      field.enter(entry);
      if (!field.next() || field.tag !== 0x02) throw new TypeError("no revocation list");
      if (!field.next()) continue;
      const hasMore = field.next();
      if (hasMore && hasCritical(field)) {
        throw new TypeError("it speaks of certificates of other authorities");
      }
      while (field.next());
    }
  }

  /** @param serial As {@link serialOf}. */
  has(serial: string): boolean {
    const known = this.#known.get(serial);
    if (known !== undefined) return known;
    const found = this.#find(Buffer.from(serial, "hex"));
    this.#known.set(serial, found);
    return found;
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
      if (field.end - start !== serial.length) continue;
      if (serial.compare(entries, start, field.end) === 0) return true;
    }
    return false;
  }
}

/** Whether one of the extensions of an entry, the element that was reached, is critical. */
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

/** Whether an authority's key signed a list. */
export function isOf(list: RevocationList, issuer: X509Certificate): boolean {
  const known = SIGNED.get(list) ?? new BoundedMap<string, boolean>(ISSUERS_PER_LIST);
  SIGNED.set(list, known);
  const name = issuer.fingerprint256;
  const signed = known.get(name) ?? isListSignedBy(list.der, issuer);
  known.set(name, signed);
  return signed;
}

function readLists(lists: readonly string[]): readonly RevocationList[] {
  const known = READ.get(lists) ?? lists.map((list) => readRevocationList(Buffer.from(list, "base64")));
  READ.set(lists, known);
  return known;
}

/** Serial number as hexadecimal text without leading zeros. */
function serialOf({ raw }: X509Certificate): string {
  return serialIn(readElement(raw).children()[0]?.children() ?? []);
}

function serialIn(fields: readonly DerElement[]): string {
  const serial = fields.find(({ tag }) => tag === 0x02);
  return significant(serial?.content ?? Buffer.alloc(0));
}

function significant(integer: Buffer): string {
  return integer.toString("hex").replace(/^(?:00)+/, "");
}

function isCritical(extension: DerElement): boolean {
  const [, critical] = extension.children();
  return critical?.tag === 0x01 && critical.content[0] !== 0;
}

/** UTCTime or GeneralizedTime in the forms of RFC 5280, 4.1.2.5. */
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
