import type { Revocation } from "./trust/revocation.ts";

/** Trust anchors with revocation lists. */
export interface Trust {
  readonly anchors: readonly string[]; // PEM, one certificate each; they replace the system's
  readonly revocation?: Revocation; // absent: no revocation check
}

/** Own certificate and trust for TLS, as PEM. */
export interface TlsMaterial extends Trust {
  readonly certificate: string; // followed by its chain
  readonly key: string; // unencrypted
  readonly clients?: Trust; // if different; likewise anchors for identity providers, and daemons by server
  readonly providerAnchors?: readonly string[];
  readonly daemons?: Readonly<Record<string, Trust>>;
  readonly publicRoots?: readonly string[]; // public authorities, for identity providers only
}
