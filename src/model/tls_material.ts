import type { Revocation } from "./trust/revocation.ts";

/** Own certificate and trust anchors for TLS, as PEM. */
export interface TlsMaterial {
  readonly certificate: string; // followed by its chain
  readonly key: string; // unencrypted
  readonly anchors: readonly string[]; // one certificate each; they replace the system's
  /** Anchors for clients, if different; likewise for identity providers, and daemons by server. */
  readonly clientAnchors?: readonly string[];
  readonly providerAnchors?: readonly string[];
  readonly daemonAnchors?: Readonly<Record<string, readonly string[]>>;
  readonly revocation?: Revocation; // absent: no revocation check
  readonly clientRevocation?: Revocation;
  readonly daemonRevocation?: Readonly<Record<string, Revocation>>;
  readonly publicRoots?: readonly string[]; // public authorities, for identity providers only
}

/** Trust anchors and revocation lists for clients. */
export type ClientTrust = Pick<TlsMaterial, "anchors" | "revocation">;

/** Returns what clients are verified against. */
export function clientTrust(
  { anchors, revocation, clientAnchors, clientRevocation }: TlsMaterial,
): ClientTrust {
  return clientAnchors === undefined
    ? { anchors, revocation }
    : { anchors: clientAnchors, revocation: clientRevocation };
}
