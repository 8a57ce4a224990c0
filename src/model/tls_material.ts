import type { Revocation } from "./trust/revocation.ts";

/** Own certificate and trust anchors for TLS, as PEM. */
export interface TlsMaterial {
  /** Followed by its chain. */
  readonly certificate: string;
  /** Unencrypted. */
  readonly key: string;
  /** One certificate each; they replace the system's. */
  readonly anchors: readonly string[];
  /** Anchors for clients, if different; likewise for identity providers, and daemons by server. */
  readonly clientAnchors?: readonly string[];
  readonly providerAnchors?: readonly string[];
  readonly daemonAnchors?: Readonly<Record<string, readonly string[]>>;
  /** Absent: no revocation check. */
  readonly revocation?: Revocation;
  readonly clientRevocation?: Revocation;
  readonly daemonRevocation?: Readonly<Record<string, Revocation>>;
  /** Public authorities, for identity providers only. */
  readonly publicRoots?: readonly string[];
}
