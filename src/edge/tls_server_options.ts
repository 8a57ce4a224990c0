import { X509Certificate } from "node:crypto";
import type { TLSSocket } from "node:tls";
import { certificateSubject } from "../model/certificate_subject.ts";
import type { ClientCertificate } from "../model/credentials.ts";
import type { EdgeTls } from "./edge_options.ts";

/**
 * Options of `tls.createServer` and `setSecureContext` for the edge. The cipher suites are the runtime's own: of TLS 1.2
 * only forward secret ones with authenticated encryption (RFC 9325, 4.2); it takes no list of ours.
 */
export function tlsServerOptions(
  { certificate, key, anchors, clientCertificate, minVersion, maxVersion }: EdgeTls,
) {
  const own = { cert: certificate, key, minVersion, maxVersion };
  if (clientCertificate === "none") return own;
  return { ...own, ca: [...anchors], requestCert: true, rejectUnauthorized: clientCertificate === "require" };
}

/** The certificate the client showed, if it verified; one that did not counts as none. */
export function clientCertificate(socket: TLSSocket): ClientCertificate | undefined {
  if (!socket.authorized) return undefined;
  const { raw } = socket.getPeerCertificate();
  if (raw === undefined) return undefined;
  const shown = new X509Certificate(raw);
  return { subject: certificateSubject(shown), pem: shown.toString() };
}
