import { certificateName } from "../../model/certificate_subject.ts";
import type { TlsMaterial } from "../../model/tls_material.ts";
import { describePermission, sortTrust } from "../../model/trust/trusted_certificates.ts";

/** What a certificate in a truststore permits. */
export interface TrustedCertificate {
  /** Whose truststore: that of all, or of some. */
  readonly of: string;
  readonly certificate: string;
  readonly permits: string;
}

/** All certificates of all truststores, for the operator. */
export function trustedCertificates(
  { anchors, clientAnchors, providerAnchors, daemonAnchors = {} }: TlsMaterial,
): readonly TrustedCertificate[] {
  const stores: (readonly [string, readonly string[] | undefined])[] = [
    ["all", anchors],
    ["clients", clientAnchors],
    ["providers", providerAnchors],
    ...Object.entries(daemonAnchors).map(([server, store]) => [`daemons of ${server}`, store] as const),
  ];
  return stores.flatMap(([of, store = []]) => {
    const { issuers, entities } = sortTrust(store);
    return [...issuers, ...entities].map((trusted) => ({
      of,
      certificate: certificateName(trusted.certificate),
      permits: describePermission(trusted),
    }));
  });
}
