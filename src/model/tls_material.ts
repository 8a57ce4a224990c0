import type { Revocation } from "./trust/revocation.ts";

/** What the service shows and whom it trusts on TLS connections, as PEM text. */
export interface TlsMaterial {
  /** Own certificate, followed by the rest of its chain. */
  readonly certificate: string;
  /** Own private key, unencrypted. */
  readonly key: string;
  /** Trust anchors, one certificate each; they replace the system's. */
  readonly anchors: readonly string[];
  /** Those of clients, of identity providers, and of daemons by server, where they have some of their own. */
  readonly clientAnchors?: readonly string[];
  readonly providerAnchors?: readonly string[];
  readonly daemonAnchors?: Readonly<Record<string, readonly string[]>>;
  /** What the authorities of each of these have revoked; absent: nobody asks. */
  readonly revocation?: Revocation;
  readonly clientRevocation?: Revocation;
  readonly daemonRevocation?: Readonly<Record<string, Revocation>>;
  /** Public authorities, for identity providers only; absent: not wanted. */
  readonly publicRoots?: readonly string[];
}
