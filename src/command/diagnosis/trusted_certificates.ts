import { certificateName } from "../../model/certificate_subject.ts";
import type { TlsMaterial } from "../../model/tls_material.ts";
import { describePermission, sortTrust } from "../../model/trust/trusted_certificates.ts";

/** Trusted certificate for the operator. */
export interface TrustedCertificate {
  /** Name of the truststore. */
  readonly of: string;
  readonly certificate: string;
  readonly permits: string;
}

/** Returns the certificates of all truststores. */
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
