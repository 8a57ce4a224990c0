import type { AnswerPolicy } from "../model/answer_headers.ts";
import type { Revocation } from "../model/trust/revocation.ts";

/** TLS of the edge as PEM texts, since the edge cannot read files. */
export interface EdgeTls {
  /** Followed by its chain. */
  readonly certificate: string;
  readonly key: string;
  /** Anchors for client certificates. */
  readonly anchors: readonly string[];
  /** Absent: no revocation check. */
  readonly revocation?: Revocation;
  /** `none`: not requested; `want`: requested, ignored if untrusted; `require`: mandatory. */
  readonly clientCertificate: "none" | "want" | "require";
  readonly minVersion: "TLSv1.2" | "TLSv1.3";
  readonly maxVersion: "TLSv1.2" | "TLSv1.3";
}

/** Options of the edge; plain data for its worker. */
export interface EdgeOptions {
  /** Resolved listen address. */
  readonly address: string;
  /** 0: chosen by the system. */
  readonly port: number;
  /** Absent: plain HTTP behind a TLS proxy. */
  readonly tls?: EdgeTls;
  /** 0: no limit. */
  readonly maxConnections: number;
  /** Addresses and ranges of gateways, which are exempt from shares. */
  readonly proxies?: readonly string[];
  /** Addresses and ranges that must send a PROXY header; others must not. */
  readonly proxyPeers?: readonly string[];
  /** Headers of responses; absent: those for non-browsers. */
  readonly policy?: AnswerPolicy;
  readonly limits: EdgeLimits;
}

/** Limits in milliseconds and bytes. */
export interface EdgeLimits {
  readonly handshakeMs: number;
  readonly headersMs: number;
  readonly keepAliveMs: number;
  /** Time without traffic during a request. */
  readonly silentMs: number;
  readonly headerBytes: number;
  /** Interval of checks. */
  readonly checkMs: number;
}

/** Default limits (design note 4). */
export const LIMITS: EdgeLimits = {
  handshakeMs: 10_000,
  headersMs: 10_000,
  keepAliveMs: 60_000,
  silentMs: 120_000,
  headerBytes: 48 * 1024, // the longest Authorization, and 16 KiB for the rest
  checkMs: 1_000,
};
