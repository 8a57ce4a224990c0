import type { AnswerPolicy } from "../model/answer_headers.ts";
import type { Revocation } from "../model/trust/revocation.ts";

/** TLS as the edge offers it: PEM texts only, since the edge can read no file. */
export interface EdgeTls {
  /** Own certificate, followed by its chain. */
  readonly certificate: string;
  readonly key: string;
  /** Whom client certificates are checked against. */
  readonly anchors: readonly string[];
  /** What their authorities have revoked; absent: nobody asks. */
  readonly revocation?: Revocation;
  /** `none`: not asked for; `want`: asked for, ignored if not trusted; `require`: no connection without. */
  readonly clientCertificate: "none" | "want" | "require";
  readonly minVersion: "TLSv1.2" | "TLSv1.3";
  readonly maxVersion: "TLSv1.2" | "TLSv1.3";
}

/** Everything the edge needs to know; plain data, posted to its room. */
export interface EdgeOptions {
  /** Address to listen on, already resolved. */
  readonly address: string;
  /** 0 lets the system choose. */
  readonly port: number;
  /** Absent: plain HTTP, behind a proxy that ends TLS. */
  readonly tls?: EdgeTls;
  /** 0 is no limit. */
  readonly maxConnections: number;
  /** Addresses and ranges whose connections stand for many clients, such as a gateway's: they may have all there are. */
  readonly proxies?: readonly string[];
  /**
   * Addresses and ranges whose connections begin with a header of the PROXY protocol, which says for whom they come; others
   * must not. Absent: there are none.
   */
  readonly proxyPeers?: readonly string[];
  /** Headers of all answers; absent: the edge's own have such as no browser needs, the others what they come with. */
  readonly policy?: AnswerPolicy;
  readonly limits: EdgeLimits;
}

/** Time limits in milliseconds, size limits in bytes. */
export interface EdgeLimits {
  readonly handshakeMs: number;
  readonly headersMs: number;
  readonly keepAliveMs: number;
  /** A connection with a request under way on which nothing moves. */
  readonly silentMs: number;
  readonly headerBytes: number;
  /** How often the time limits are looked at. */
  readonly checkMs: number;
}

/** The limits the service runs with (design note 4). */
export const LIMITS: EdgeLimits = {
  handshakeMs: 10_000,
  headersMs: 10_000,
  keepAliveMs: 60_000,
  silentMs: 120_000,
  headerBytes: 48 * 1024, // the longest Authorization, and 16 KiB for all others
  checkMs: 1_000,
};
