import { sortTrust } from "../model/trust/trusted_certificates.ts";

/** Trust anchors and client certificate for other systems. */
export interface HttpsTrust {
  readonly anchors: readonly string[]; // PEM; the only ones besides `publicRoots`
  readonly publicRoots?: readonly string[];
  /** PEM chain and key, for servers that request it. */
  readonly clientCertificate?: { readonly certificate: string; readonly key: string };
}

/** Reports whether no server is trusted. */
export function trustsNobody({ anchors, publicRoots = [] }: HttpsTrust): boolean {
  return anchors.length === 0 && publicRoots.length === 0;
}

/** Returns all trusted authorities. */
export function authoritiesOf({ anchors, publicRoots = [] }: HttpsTrust): string[] {
  return [...sortTrust(anchors).issuers.map(({ pem }) => pem), ...publicRoots];
}
