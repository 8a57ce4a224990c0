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
    const accepted = acceptedBy(anchors);
    const shown = `${expectedDn ?? ""}\n${sent.map(({ raw }) => raw.toString("latin1")).join("\n")}`;
    const known = accepted.get(shown);
    if (known !== undefined && known.every((certificate) => outOfDate(certificate, at) === undefined)) {
      return undefined;
    }
    const trusted = anchors.map((pem) => new X509Certificate(pem));
    const way = findWay(leaf, trusted, others.filter((certificate) => certificate.ca), at, MAX_DEPTH);
    if (typeof way === "string") return way;
    if (expectedDn !== undefined && !sameName(certificateSubject(leaf), expectedDn)) {
      return `the daemon's certificate is for <${oneLine(leaf.subject)}>, expected <${expectedDn}>`;
    }
    accepted.set(shown, way);
    return undefined;
  } catch (error) {
    return `the daemon's certificate cannot be checked: ${error instanceof Error ? error.message : error}`;
  }
}

/**
 * Ways from what a daemon showed to an anchor: daemons show the same with every connection, and but for the date the
 * outcome never changes.
 */
type Accepted = BoundedMap<string, readonly Dated[]>;

const ACCEPTED = new WeakMap<readonly string[], Accepted>();

function acceptedBy(anchors: readonly string[]): Accepted {
  const known = ACCEPTED.get(anchors);
  if (known !== undefined) return known;
  const none: Accepted = new BoundedMap(256);
  ACCEPTED.set(anchors, none);
  return none;
}

/** A certificate of a way, and when it is valid, in milliseconds since the epoch. */
interface Dated {
  readonly certificate: X509Certificate;
  readonly from: number;
  readonly to: number;
}

function dated(certificate: X509Certificate): Dated {
  return { certificate, from: Date.parse(certificate.validFrom), to: Date.parse(certificate.validTo) };
}

function outOfDate({ certificate, from, to }: Dated, at: number): string | undefined {
  if (at < from) return `the certificate of <${oneLine(certificate.subject)}> is not valid yet`;
  if (at > to) {
    return `the certificate of <${oneLine(certificate.subject)}> expired on ${certificate.validTo}`;
  }
  return undefined;
}

/** Looks for a way to an anchor: its certificates, or the problem with the way that came furthest. */
function findWay(
  certificate: X509Certificate,
  anchors: readonly X509Certificate[],
  intermediates: readonly X509Certificate[],
  at: number,
  depth: number,
): readonly Dated[] | string {
  const here = dated(certificate);
  const late = outOfDate(here, at);
  if (late !== undefined) return late;
  if (anchors.some((anchor) => anchor.raw.equals(certificate.raw))) return [here];
  let problem = `no trusted authority signed the certificate of <${oneLine(certificate.subject)}>, issuer <${
    oneLine(certificate.issuer)
  }>`;
  if (depth === 0) return problem;
  const issuers = [
    ...anchors.filter(mayIssue),
    ...intermediates,
  ].filter((issuer) => certificate.checkIssued(issuer) && certificate.verify(issuer.publicKey));
  for (const issuer of issuers) {
    const rest = intermediates.filter((other) => other !== issuer);
    const further = findWay(issuer, anchors, rest, at, depth - 1);
    if (typeof further !== "string") return [here, ...further];
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

/** `C=EU, O=Demo, CN=Root` for a name that the platform writes on several lines. */
function oneLine(name: string): string {
  return name.split("\n").join(", ");
}
