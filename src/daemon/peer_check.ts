import { Buffer } from "node:buffer";
import { X509Certificate } from "node:crypto";
import { sameName } from "../model/distinguished_name.ts";
import { BoundedMap } from "../model/bounded_map.ts";
import { certificateSubject } from "../model/certificate_subject.ts";

export interface PeerCheck {
  /** Certificates the service trusts to name daemons, as PEM. */
  readonly anchors: readonly string[];
  /** The only subject accepted, in any order-preserving spelling; absent: any that the anchors vouch for. */
  readonly expectedDn?: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/** Longest way from a daemon's certificate to an anchor. */
const MAX_DEPTH = 8;

/**
 * Our own check of a daemon's certificate, for certificates of every version: `node:tls` compares no more than the
 * issuer's name where a certificate is of version 1 (daemon-protocol.md 1.3). Host names are not compared: the
 * certificates of daemons carry role names.
 * @param sent The daemon's certificate, followed by whatever else it sent, in any order.
 * @returns What is wrong, as text for the operator; `undefined` if the daemon is who it should be.
 */
export function checkPeer(
  sent: readonly X509Certificate[],
  { anchors, expectedDn, at }: PeerCheck,
): string | undefined {
  const [leaf, ...others] = sent;
  if (leaf === undefined) return "the daemon showed no certificate";
  try {
    const trusted = anchors.map((pem) => new X509Certificate(pem));
    const problem = findWay(leaf, trusted, others.filter((certificate) => certificate.ca), at, MAX_DEPTH);
    if (problem !== undefined) return problem;
    if (expectedDn !== undefined && !sameName(certificateSubject(leaf), expectedDn)) {
      return `the daemon's certificate is for <${oneLine(leaf.subject)}>, expected <${expectedDn}>`;
    }
    return undefined;
  } catch (error) {
    return `the daemon's certificate cannot be checked: ${error instanceof Error ? error.message : error}`;
  }
}

/** Looks for a way to an anchor; the problem with the way that came furthest, or `undefined` once there. */
function findWay(
  certificate: X509Certificate,
  anchors: readonly X509Certificate[],
  intermediates: readonly X509Certificate[],
  at: number,
  depth: number,
): string | undefined {
  const name = `<${oneLine(certificate.subject)}>`;
  if (at < Date.parse(certificate.validFrom)) return `the certificate of ${name} is not valid yet`;
  if (at > Date.parse(certificate.validTo)) {
    return `the certificate of ${name} expired on ${certificate.validTo}`;
  }
  if (anchors.some((anchor) => anchor.raw.equals(certificate.raw))) return undefined;
  let problem = `no trusted authority signed the certificate of ${name}, issuer <${
    oneLine(certificate.issuer)
  }>`;
  if (depth === 0) return problem;
  const issuers = [
    ...anchors.filter(mayIssue),
    ...intermediates,
  ].filter((issuer) => signed(issuer, certificate));
  for (const issuer of issuers) {
    const rest = intermediates.filter((other) => other !== issuer);
    const further = findWay(issuer, anchors, rest, at, depth - 1);
    if (further === undefined) return undefined;
    problem = further;
  }
  return problem;
}

/** Object identifier of the extension that says whether a certificate is an authority's (2.5.29.19), as DER. */
const BASIC_CONSTRAINTS = Buffer.from("0603551d13", "hex");

/** An anchor is an authority unless it says that it is none; those of version 1 cannot say. */
function mayIssue(anchor: X509Certificate): boolean {
  return anchor.ca || !anchor.raw.includes(BASIC_CONSTRAINTS);
}

/** Pairs of issuer and certificate whose signature was verified: the same few come with every connection. */
const VERIFIED = new BoundedMap<string, true>(64);

/** Verifying is most of the work of a check, and of a pair of certificates the outcome never changes. */
function signed(issuer: X509Certificate, certificate: X509Certificate): boolean {
  const pair = `${issuer.fingerprint512} ${certificate.fingerprint512}`;
  if (VERIFIED.get(pair) !== undefined) return true;
  if (!certificate.checkIssued(issuer) || !certificate.verify(issuer.publicKey)) return false;
  VERIFIED.set(pair, true);
  return true;
}

/** `C=EU, O=Demo, CN=Root` for a name that the platform writes on several lines. */
function oneLine(name: string): string {
  return name.split("\n").join(", ");
}
