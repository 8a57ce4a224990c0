import type { X509Certificate } from "node:crypto";
import {
  type CertificateFacts,
  certificateFacts,
  describeValidity,
  isValidAt,
  permits,
  type Purpose,
  type Validity,
  validityOf,
} from "./certificate_facts.ts";
import { findRevoked, isRevoked, referenceOf, type Revocation } from "./revocation.ts";
import { isSignedBy } from "./signed_by.ts";
import { sortTrust, type Trusted } from "./trusted_certificates.ts";

interface PathRequirements {
  readonly anchors: readonly string[]; // PEM; `sortTrust` decides which may issue
  readonly purpose: Purpose;
  readonly revocation?: Revocation; // absent: no revocation check
  readonly at: number; // milliseconds since the epoch
}

export interface Dated extends Validity {
  readonly certificate: X509Certificate;
}

const MAX_DEPTH = 8;

const MAX_SHOWN = 16;

const MAX_SIGNATURES = 64; // most signature checks per path, since the peer chooses the candidates

/** Certificate that may issue others, if genuine. */
type Authority = Omit<Trusted, "pem">;

interface Step {
  readonly here: Dated;
  readonly facts: CertificateFacts;
  readonly before: Step | undefined;
  readonly depth: number;
}

/**
 * Finds the shortest path to an anchor (RFC 5280, 6.1, without policies) with bounded work; compares no host names.
 * @param shown The leaf, then possible intermediates in any order.
 * @returns The path, anchor last, or for the operator the problem of the longest attempt.
 */
export function findPath(
  shown: readonly X509Certificate[],
  { anchors, purpose, revocation, at }: PathRequirements,
): readonly Dated[] | string {
  const [leaf, ...others] = shown.slice(0, MAX_SHOWN);
  if (leaf === undefined) return "no certificate was shown";
  const { issuers, entities } = sortTrust(anchors);
  const isAnchor = ({ raw }: X509Certificate) =>
    issuers.some(({ certificate }) => certificate.raw.equals(raw));
  const intermediates = others.filter((certificate) => !isAnchor(certificate))
    .map((certificate) => ({ certificate, facts: certificateFacts(certificate) }))
    .filter(({ facts }) => facts.authority === true && facts.signsCertificates !== false);
  const signatures = new Signatures();
  const authorities = verifiedIssuers(intermediates, issuers, signatures);
  const visited = new Set<string>();
  let diagnostic = "";
  let furthest = -1;
  const fail = (depth: number, text: string) => {
    if (depth < furthest) return;
    furthest = depth;
    diagnostic = text;
  };
  const steps: Step[] = [{ here: dated(leaf), facts: certificateFacts(leaf), before: undefined, depth: 0 }];
  for (const step of steps) {
    const { here, facts, depth } = step;
    const { certificate } = here;
    const der = certificate.raw.toString("latin1");
    if (visited.has(der)) continue;
    visited.add(der);
    const unfit = unfitness(step, purpose, at);
    if (unfit !== undefined) {
      fail(depth, `the certificate of ${nameOf(certificate)} ${unfit}`);
      continue;
    }
    const known = depth === 0 ? [...issuers, ...entities] : issuers;
    if (known.some((trusted) => trusted.certificate.raw.equals(certificate.raw))) {
      const path = pathTo(step);
      const revoked = revokedOn(path, revocation, at);
      if (revoked === undefined) return path;
      fail(depth + 1, revoked);
      continue;
    }
    if (facts.hasUnsupportedExtensions) {
      fail(depth, `the certificate of ${nameOf(certificate)} makes critical demands that are not evaluated`);
      continue;
    }
    const last = lastByName(certificate, intermediates);
    const issuer = oneLine(last.issuer ?? "");
    fail(depth, `no trusted authority signed the certificate of ${nameOf(last)}, issuer <${issuer}>`);
    if (depth === MAX_DEPTH) continue;
    for (const issuer of authorities) {
      // The depth is the number of intermediates below this issuer.
      if (issuer.facts.pathLength !== undefined && issuer.facts.pathLength < depth) continue;
      if (!signatures.verify(certificate, issuer)) continue;
      steps.push({ here: dated(issuer.certificate), facts: issuer.facts, before: step, depth: depth + 1 });
    }
  }
  return signatures.spent ? "the certificates shown take too long to check" : diagnostic;
}

function unfitness({ here, facts }: Step, purpose: Purpose, at: number): string | undefined {
  if (!isValidAt(here, at)) return describeValidity(here, at).text;
  return permits(facts, purpose) ? undefined : `is not for TLS ${SIDES[purpose]}`;
}

/** Returns anchors and the intermediates they signed, top down: forged ones cost one check per anchor at most. */
function verifiedIssuers(
  intermediates: readonly Authority[],
  issuers: readonly Authority[],
  signatures: Signatures,
): readonly Authority[] {
  const authorities = [...issuers];
  const left = new Set(intermediates);
  for (const authority of authorities) {
    for (const candidate of left) {
      if (!signatures.verify(candidate.certificate, authority)) continue;
      left.delete(candidate);
      authorities.push(candidate);
    }
  }
  return authorities;
}

class Signatures {
  #left = MAX_SIGNATURES;
  spent = false;

  /** Reports whether an authority issued a certificate, by name and signature. */
  verify(certificate: X509Certificate, { certificate: authority }: Authority): boolean {
    if (this.spent || !certificate.checkIssued(authority)) return false;
    this.spent = this.#left === 0;
    this.#left--;
    return !this.spent && isSignedBy(certificate, authority);
  }
}

/** Returns the end of the path by names alone, so that the operator learns what is missing. */
function lastByName(leaf: X509Certificate, intermediates: readonly Authority[]): X509Certificate {
  const left = new Set(intermediates);
  for (let last = leaf;;) {
    const next = [...left].find(({ certificate }) => last.checkIssued(certificate));
    if (next === undefined) return last;
    left.delete(next);
    last = next.certificate;
  }
}

/** Returns the certificate of a path that is revoked, or whose status is unknown. */
export function revokedOn(
  path: readonly Dated[],
  revocation: Revocation | undefined,
  at: number,
): string | undefined {
  const revoked = revocation &&
    findRevoked(path.map(({ certificate }) => certificate), revocation, at);
  return revoked && `the certificate of ${nameOf(revoked.certificate)} ${revoked.why}`;
}

/** Returns what {@link isStillValid} needs: issuer, serial number and end of each certificate, and the anchor's key. */
export function pathReference(path: readonly Dated[]): string {
  return path.map(({ certificate, to }, i) => {
    const isAnchor = i === path.length - 1; // cannot be revoked
    const { issuer, serial } = isAnchor ? { issuer: "", serial: "" } : referenceOf(certificate);
    const ends = isAnchor && i > 0 ? "" : Math.floor(to / 1000); // a renewed anchor may keep the key
    return `${issuer}.${serial}.${ends}${isAnchor ? `.${certificateFacts(certificate).keyDigest}` : ""}`;
  }).join("+");
}

const PART = /^(?<issuer>[\w-]*)\.(?<serial>[0-9a-f]*)\.(?<ends>\d*)(?:\.(?<key>[\w-]+))?$/;

/** Reports whether each certificate of a {@link pathReference} is in date, not revoked, and the anchor trusted. */
export function isStillValid(
  reference: string,
  { anchors, revocation, at }: Partial<PathRequirements> & Pick<PathRequirements, "at">,
): boolean {
  return reference.split("+").every((part) => {
    const { issuer = "", serial = "", ends, key } = PART.exec(part)?.groups ?? {};
    if (ends === undefined || (ends !== "" && at > Number(ends) * 1000 + 999)) return false;
    if (issuer !== "" && revocation && isRevoked({ issuer, serial }, revocation, at)) return false;
    return key === undefined || anchors === undefined || at <= (sortTrust(anchors).keyEnds.get(key) ?? 0);
  });
}

/** Formats `<C=EU, O=Demo, CN=Root>`, or the alternative names without a subject. */
export function nameOf({ subject, subjectAltName }: X509Certificate): string {
  const name = oneLine(subject ?? "");
  return `<${name === "" ? subjectAltName ?? "no name" : name}>`;
}

const SIDES: Readonly<Record<Purpose, string>> = { serverAuth: "servers", clientAuth: "clients" };

function dated(certificate: X509Certificate): Dated {
  return { certificate, ...validityOf(certificate) };
}

function pathTo(step: Step): readonly Dated[] {
  const path: Dated[] = [];
  for (let at: Step | undefined = step; at !== undefined; at = at.before) path.unshift(at.here);
  return path;
}

/** Joins a name that the platform writes on several lines. */
function oneLine(name: string): string {
  return name.split("\n").join(", ");
}
