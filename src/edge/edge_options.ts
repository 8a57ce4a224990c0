import type { ResponsePolicy } from "../model/response_headers.ts";
import type { Revocation } from "../model/trust/revocation.ts";

/** TLS of the edge as PEM texts, since the edge cannot read files. */
export interface EdgeTls {
  readonly certificate: string; // followed by its chain
  readonly key: string;
  readonly anchors: readonly string[]; // anchors for client certificates
  readonly revocation?: Revocation; // absent: no revocation check
  /** `requested`: ignored if untrusted; `required`: mandatory. */
  readonly clientCertificate: "none" | "requested" | "required";
  readonly minVersion: "TLSv1.2" | "TLSv1.3";
  readonly maxVersion: "TLSv1.2" | "TLSv1.3";
}

/** Options of the edge; plain data for its worker. */
export interface EdgeOptions {
  readonly address: string; // resolved listen address
  readonly port: number; // 0: chosen by the system
  readonly tls?: EdgeTls; // absent: plain HTTP behind a TLS proxy
  readonly maxConnections: number; // 0: no limit
  readonly proxies?: readonly string[]; // addresses and ranges of gateways, which are exempt from shares
  /** Addresses and ranges that must send a PROXY header; others must not. */
  readonly proxyPeers?: readonly string[];
  readonly policy?: ResponsePolicy; // headers of responses; absent: those for non-browsers
  readonly limits: EdgeLimits;
}

/** Limits in milliseconds and bytes. */
export interface EdgeLimits {
  readonly handshakeMs: number;
  readonly headersMs: number;
  readonly keepAliveMs: number;
  readonly silentMs: number; // time without traffic during a request
  readonly headerBytes: number;
  readonly checkMs: number; // interval of checks
}

/** Default limits (design note 4). */
export const LIMITS: EdgeLimits = {
  handshakeMs: 10_000,
  headersMs: 10_000,
  keepAliveMs: 60_000,
  silentMs: 120_000,
  headerBytes: 48 * 1024, // the longest Authorization, and 16 KiB for the rest
  checkMs: 5_000,
};
