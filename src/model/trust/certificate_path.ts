import type { X509Certificate } from "node:crypto";
import { type CertificateFacts, certificateFacts, permits, type Purpose } from "./certificate_facts.ts";
import { findRevoked, type Revocation } from "./revocation.ts";
import { isSignedBy } from "./signed_by.ts";
import { describeValidity, isValidAt, type Validity, validityOf } from "./validity.ts";
import { sortTrust, type Trusted } from "./trusted_certificates.ts";

/** What a way from a certificate to an anchor must be. */
interface PathDemands {
  /** Trusted certificates as PEM; which of them may issue is told by {@link sortTrust}. */
  readonly anchors: readonly string[];
  readonly purpose: Purpose;
  /** What authorities have revoked; absent: nobody asks. */
  readonly revocation?: Revocation;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/** A certificate of a way, and when it is valid. */
export interface Dated extends Validity {
  readonly certificate: X509Certificate;
}

/** Longest way from a certificate to an anchor. */
const MAX_DEPTH = 8;

/** Certificates of the other side that are looked at. */
const MAX_SHOWN = 16;

/** Signatures that are verified for one way: the other side chooses how many there are to try. */
const MAX_SIGNATURES = 64;

/** A certificate that may issue others, if it is genuine. */
type Authority = Omit<Trusted, "pem">;

/** A place on the way: how we came there, and how far it is from the leaf. */
interface Step {
  readonly here: Dated;
  readonly facts: CertificateFacts;
  readonly before: Step | undefined;
  readonly depth: number;
}

/**
 * Looks for the shortest way from a certificate to a trusted one (RFC 5280, 6.1, without policies): each signature,
 * date, purpose, and the right of each issuer to issue. Certificates of every version are understood. Each certificate is
 * visited once, and the work is bounded whatever the other side shows. Names of hosts are not compared.
 * @param shown The certificate in question, followed by others that may be on the way, in any order.
 * @returns The way with the anchor last, or the problem with the way that came furthest, as text for the operator.
 */
export function findPath(
  shown: readonly X509Certificate[],
  { anchors, purpose, revocation, at }: PathDemands,
): readonly Dated[] | string {
  const [leaf, ...others] = shown.slice(0, MAX_SHOWN);
  if (leaf === undefined) return "no certificate was shown";
  const { issuers, entities } = sortTrust(anchors);
  const isAnchor = ({ raw }: X509Certificate) =>
    issuers.some(({ certificate }) => certificate.raw.equals(raw));
  const intermediates = authoritiesAmong(others.filter((certificate) => !isAnchor(certificate)));
  const signatures = new Signatures();
  const authorities = vouchedFor(intermediates, issuers, signatures);
  const visited = new Set<string>();
  let diagnostic = "";
  let furthest = -1;
  const fail = (depth: number, text: string) => {
    if (depth < furthest) return;
    furthest = depth;
    diagnostic = text;
  };
  const first: Step = { here: dated(leaf), facts: certificateFacts(leaf), before: undefined, depth: 0 };
  const steps = [first];
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
      const way = wayTo(step);
      const revoked = revokedOn(way, revocation, at);
      if (revoked === undefined) return way;
      fail(depth + 1, revoked);
      continue;
    }
    if (facts.hasUnknownDemands) {
      fail(depth, `the certificate of ${nameOf(certificate)} makes critical demands that are not evaluated`);
      continue;
    }
    const last = lastByName(certificate, intermediates);
    const issuer = oneLine(last.issuer ?? "");
    fail(depth, `no trusted authority signed the certificate of ${nameOf(last)}, issuer <${issuer}>`);
    if (depth === MAX_DEPTH) continue;
    for (const issuer of authorities) {
      // What is between the leaf and this issuer: as many certificates as we have come far.
      if (issuer.facts.pathLength !== undefined && issuer.facts.pathLength < depth) continue;
      if (!signatures.binds(certificate, issuer)) continue;
      steps.push({ here: dated(issuer.certificate), facts: issuer.facts, before: step, depth: depth + 1 });
    }
  }
  return signatures.spent ? "the certificates shown take too long to check" : diagnostic;
}

function authoritiesAmong(certificates: readonly X509Certificate[]): Authority[] {
  return certificates
    .map((certificate) => ({ certificate, facts: certificateFacts(certificate) }))
    .filter(({ facts }) => facts.authority === true && facts.signsCertificates !== false);
}

function unfitness({ here, facts }: Step, purpose: PathDemands["purpose"], at: number): string | undefined {
  if (!isValidAt(here, at)) return describeValidity(here, at).text;
  return permits(facts, purpose) ? undefined : `is not for TLS ${SIDES[purpose]}`;
}

/**
 * The trusted authorities, and those of the others that one of these vouches for. From the anchors down, so that only keys
 * that are trusted already are put to work: what a stranger has made up costs as many signatures as it names anchors.
 */
function vouchedFor(
  intermediates: readonly Authority[],
  issuers: readonly Authority[],
  signatures: Signatures,
): readonly Authority[] {
  const authorities = [...issuers];
  const left = new Set(intermediates);
  for (const authority of authorities) {
    for (const candidate of left) {
      if (!signatures.binds(candidate.certificate, authority)) continue;
      left.delete(candidate);
      authorities.push(candidate);
    }
  }
  return authorities;
}

/** Looks at no more than so many signatures. */
class Signatures {
  #left = MAX_SIGNATURES;
  spent = false;

  /** Whether an authority issued a certificate, by name and by signature. */
  binds(certificate: X509Certificate, { certificate: authority }: Authority): boolean {
    if (this.spent || !certificate.checkIssued(authority)) return false;
    this.spent = this.#left === 0;
    this.#left--;
    return !this.spent && isSignedBy(certificate, authority);
  }
}

/** Where the way up ends by names alone: what is missing there is what an operator has to look for. */
function lastByName(leaf: X509Certificate, intermediates: readonly Authority[]): X509Certificate {
  const left = new Set(intermediates);
  for (let last = leaf;;) {
    const next = [...left].find(({ certificate }) => last.checkIssued(certificate));
    if (next === undefined) return last;
    left.delete(next);
    last = next.certificate;
  }
}

/** Which certificate of a way does not count because its issuer revoked it, or might have. */
export function revokedOn(
  way: readonly Dated[],
  revocation: Revocation | undefined,
  at: number,
): string | undefined {
  const revoked = revocation &&
    findRevoked(way.map(({ certificate }) => certificate), revocation, at);
  return revoked && `the certificate of ${nameOf(revoked.certificate)} ${revoked.why}`;
}

/** `<C=EU, O=Demo, CN=Root>`; for one without subject its alternative names. */
export function nameOf({ subject, subjectAltName }: X509Certificate): string {
  const name = oneLine(subject ?? "");
  return `<${name === "" ? subjectAltName ?? "no name" : name}>`;
}

const SIDES: Readonly<Record<Purpose, string>> = { serverAuth: "servers", clientAuth: "clients" };

function dated(certificate: X509Certificate): Dated {
  return { certificate, ...validityOf(certificate) };
}

function wayTo(step: Step): readonly Dated[] {
  const way: Dated[] = [];
  for (let at: Step | undefined = step; at !== undefined; at = at.before) way.unshift(at.here);
  return way;
}

/** A name that the platform writes on several lines. */
function oneLine(name: string): string {
  return name.split("\n").join(", ");
}
