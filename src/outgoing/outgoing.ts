import type { Remote } from "../config/kind.ts";
import type { TlsConnection } from "./open_tls.ts";
import type { OutgoingHttp } from "./outgoing_http.ts";

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
