import type { ClientCertificate } from "./credentials.ts";

/** Who is at the other end of a connection. */
export interface Peer {
  /** In canonical form, see `canonicalAddress`. */
  readonly address: string;
  /** Shown on the TLS connection and verified against the truststore. */
  readonly certificate?: ClientCertificate;
  /** Why one that was shown counts for nothing, where its owner could take it for good; for the log. */
  readonly unusableCertificate?: string;
}
