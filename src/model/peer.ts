import type { ClientCertificate } from "./credentials.ts";

/** Peer of a connection. */
export interface Peer {
  readonly address: string; // canonical, see `canonicalAddress`
  readonly certificate?: ClientCertificate; // verified against the truststore
  readonly unusableCertificate?: string; // reason for the log why a presented certificate was ignored
}
