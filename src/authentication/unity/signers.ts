import { X509Certificate } from "node:crypto";
import { isSignedBy } from "../../model/trust/signed_by.ts";
import { sortTrust } from "../../model/trust/trusted_certificates.ts";
import { isValidAt, validityOf } from "../../model/trust/validity.ts";
import type { Signers } from "./signed_element.ts";

/** Trusts only the issuers' own certificates while valid. */
export function exactly(issuers: readonly string[], at: number): Signers {
  return (shown) => find(issuers, shown, at);
}

/** Trusts the issuers, the anchors, and certificates that an anchor signed. */
export function anchored(issuers: readonly string[], anchors: readonly string[], at: number): Signers {
  return (shown) => {
    const known = find([...issuers, ...anchors], shown, at);
    if (known !== undefined) return known;
    const certificate = read(shown);
    if (certificate === undefined || !isValid(certificate, at)) return undefined;
    const isSigned = sortTrust(anchors).issuers.some(({ certificate: anchor }) =>
      isValid(anchor, at) && certificate.checkIssued(anchor) && isSignedBy(certificate, anchor)
    );
    return isSigned ? certificate : undefined;
  };
}

function find(trusted: readonly string[], shown: Uint8Array, at: number): X509Certificate | undefined {
  return trusted.map((pem) => new X509Certificate(pem))
    .find((certificate) => certificate.raw.equals(shown) && isValid(certificate, at));
}

function read(der: Uint8Array): X509Certificate | undefined {
  try {
    return new X509Certificate(der);
  } catch {
    return undefined; // no certificate
  }
}

function isValid(certificate: X509Certificate, at: number): boolean {
  return isValidAt(validityOf(certificate), at);
}
