import type { ClientCertificate } from "./credentials.ts";

/** Peer of a connection. */
export interface Peer {
  readonly address: string; // canonical, see `canonicalAddress`
  readonly certificate?: ClientCertificate; // verified against the truststore
  readonly unusableCertificate?: string; // reason for the log why a presented certificate was ignored
  readonly untrustedCertificate?: string; // likewise, if no authority vouches for it: as if there were none
}
