import { X509Certificate } from "node:crypto";
import { type CertificateFacts, certificateFacts, permits, type Purpose } from "./certificate_facts.ts";
import { isSignedBy } from "./signed_by.ts";

/** A trusted certificate, and what it says. */
export interface Trusted {
  readonly pem: string;
  readonly certificate: X509Certificate;
  readonly facts: CertificateFacts;
}

/** A truststore by what its certificates permit. */
interface SortedTrust {
  /** Those that may issue: whatever they signed is trusted, and nobody else's signature is. */
  readonly issuers: readonly Trusted[];
  /** All others: trusted as themselves, they vouch for nobody. */
  readonly entities: readonly Trusted[];
}

const SORTED = new WeakMap<readonly string[], SortedTrust>();

/**
 * Sorts a truststore. Which certificate may issue: one of version 3 that says it is an authority's, and whose key usage
 * permits it; of those that cannot say, of version 1, a self-signed one.
 * @param anchors PEM, one certificate each.
 * @throws If one cannot be read.
 */
export function sortTrust(anchors: readonly string[]): SortedTrust {
  const known = SORTED.get(anchors);
  if (known !== undefined) return known;
  const all = anchors.map((pem): Trusted => {
    const certificate = new X509Certificate(pem);
    return { pem, certificate, facts: certificateFacts(certificate) };
  });
  const sorted = { issuers: all.filter(mayIssue), entities: all.filter((trusted) => !mayIssue(trusted)) };
  SORTED.set(anchors, sorted);
  return sorted;
}

/** Whether a certificate's signature under another counts. */
function mayIssue({ certificate, facts }: Pick<Trusted, "certificate" | "facts">): boolean {
  if (facts.version < 3) return isSelfSigned(certificate);
  return facts.authority === true && facts.signsCertificates !== false;
}

/** For the operator: what a certificate in a truststore permits. */
export function describePermission({ certificate, facts }: Pick<Trusted, "certificate" | "facts">): string {
  const uses = ([["serverAuth", "servers"], ["clientAuth", "clients"]] as const)
    .filter(([purpose]) => permits(facts, purpose)).map(([, who]) => who);
  const whom = uses.length === 0 ? "neither servers nor clients" : uses.join(" and ");
  return mayIssue({ certificate, facts })
    ? `issues certificates of ${whom}${certificate.subject === certificate.issuer ? "" : " (intermediate)"}`
    : `itself only, of ${whom}`;
}

/** The certificate of a truststore that is this one, if it is trusted as itself for the purpose. */
export function trustedAsItself(
  certificate: X509Certificate,
  anchors: readonly string[],
  purpose: Purpose,
): boolean {
  const { issuers, entities } = sortTrust(anchors);
  return [...issuers, ...entities].some((trusted) =>
    trusted.certificate.raw.equals(certificate.raw) && permits(trusted.facts, purpose)
  );
}

function isSelfSigned(certificate: X509Certificate): boolean {
  return certificate.subject === certificate.issuer && isSignedBy(certificate, certificate);
}
