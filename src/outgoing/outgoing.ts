import type { Remote } from "../config/kind.ts";
import type { TlsConnection } from "./open_tls.ts";

/** Place and transport of a remote system. */
export type TlsRemote = Pick<Remote, "address" | "defaultPort" | "anchors" | "beforeTls" | "showCertificate">;

/** Connections to other systems with the service's truststore and limits. */
export interface Outgoing {
  /** Returns the HTTP client. @param showCertificate Whether servers get our certificate; absent: general setting. */
  http(showCertificate?: boolean): OutgoingHttp;
  /** Opens a verified TLS connection within the time limit, without an HTTP proxy. @throws {RemoteUnavailable} */
  connect(remote: TlsRemote, signal: AbortSignal): Promise<TlsConnection>;
  readonly connectionsPerHost: number;
}

export interface OutgoingRequest {
  readonly method: "GET" | "POST";
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly statusAlone?: true; // whether to ignore the response's body
}

/** Response of another system, with any status. */
export interface OutgoingResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>; // lower-case names
  readonly body: string; // UTF-8; bounded
}

/** HTTPS client with the service's anchors and limits; follows no redirects. */
export interface OutgoingHttp {
  readonly connectionsPerHost?: number; // concurrent requests per host
  /** @throws {RemoteUnavailable} Without a complete response: refused, TLS, timeout, too long. */
  send(request: OutgoingRequest, signal: AbortSignal): Promise<OutgoingResponse>;
}
