import type { ClientCertificate } from "./credentials.ts";

/** Peer of a connection. */
export interface Peer {
  /** Canonical, see `canonicalAddress`. */
  readonly address: string;
  /** Verified against the truststore. */
  readonly certificate?: ClientCertificate;
  /** Reason for the log why a presented certificate was ignored. */
  readonly unusableCertificate?: string;
}
