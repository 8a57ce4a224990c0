import { sortTrust } from "../model/trust/trusted_certificates.ts";

/** Whom to trust on connections to other systems, and as whom to appear. */
export interface HttpsTrust {
  /** Trusted certificates as PEM, one each; nobody else is trusted. */
  readonly anchors: readonly string[];
  /** Public authorities that are trusted besides; PEM, one each. */
  readonly publicRoots?: readonly string[];
  /** Own certificate chain and key as PEM, to be shown to servers that ask. */
  readonly clientCertificate?: { readonly certificate: string; readonly key: string };
}

/** Whether there is nobody whom any connection could be made to. */
export function trustsNobody({ anchors, publicRoots = [] }: HttpsTrust): boolean {
  return anchors.length === 0 && publicRoots.length === 0;
}

/** The authorities whose signature counts. */
export function authoritiesOf({ anchors, publicRoots = [] }: HttpsTrust): string[] {
  return [...sortTrust(anchors).issuers.map(({ pem }) => pem), ...publicRoots];
}
