import { X509Certificate } from "node:crypto";
import { type CertificateFacts, certificateFacts, permits, validityOf } from "./certificate_facts.ts";
import { isSignedBy } from "./signed_by.ts";

export interface Trusted {
  readonly pem: string;
  readonly certificate: X509Certificate;
  readonly facts: CertificateFacts;
}

interface SortedTrust {
  readonly issuers: readonly Trusted[]; // certificates that may issue
  readonly entities: readonly Trusted[]; // certificates trusted for themselves only
  readonly keyEnds: ReadonlyMap<string, number>; // latest end of certificates with a key, by its digest
}

const SORTED = new WeakMap<readonly string[], SortedTrust>();

/** Sorts a truststore (PEM) by the right to issue; self-signed ones of version 1 may. @throws If one cannot be read. */
export function sortTrust(anchors: readonly string[]): SortedTrust {
  return SORTED.getOrInsertComputed(anchors, () => {
    const all = anchors.map((pem): Trusted => {
      const certificate = new X509Certificate(pem);
      return { pem, certificate, facts: certificateFacts(certificate) };
    });
    const [issuers, entities] = [all.filter(mayIssue), all.filter((trusted) => !mayIssue(trusted))];
    const ends = all.map(({ certificate, facts }) => [facts.keyDigest, validityOf(certificate).to] as const);
    return { issuers, entities, keyEnds: new Map(ends.toSorted(([, one], [, other]) => one - other)) };
  });
}

function mayIssue({ certificate, facts }: Pick<Trusted, "certificate" | "facts">): boolean {
  if (facts.version < 3) {
    return certificate.subject === certificate.issuer && isSignedBy(certificate, certificate);
  }
  return facts.authority === true && facts.signsCertificates !== false;
}

/** Describes a certificate's permissions for the operator. */
export function describePermission({ certificate, facts }: Pick<Trusted, "certificate" | "facts">): string {
  const uses = ([["serverAuth", "servers"], ["clientAuth", "clients"]] as const)
    .filter(([purpose]) => permits(facts, purpose)).map(([, who]) => who);
  const whom = uses.length === 0 ? "neither servers nor clients" : uses.join(" and ");
  return mayIssue({ certificate, facts })
    ? `issues certificates of ${whom}${certificate.subject === certificate.issuer ? "" : " (intermediate)"}`
    : `itself only, of ${whom}`;
}

/** Reports whether a truststore contains this certificate, and it may be a server's. */
export function isPinned(certificate: X509Certificate, anchors: readonly string[]): boolean {
  const { issuers, entities } = sortTrust(anchors);
  return [...issuers, ...entities].some((trusted) =>
    trusted.certificate.raw.equals(certificate.raw) && permits(trusted.facts, "serverAuth")
  );
}
