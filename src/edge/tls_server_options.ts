import { X509Certificate } from "node:crypto";
import type { TLSSocket } from "node:tls";
import { certificateSubject } from "../model/certificate_subject.ts";
import type { ClientCertificate } from "../model/credentials.ts";
import type { EdgeTls } from "./edge_options.ts";

/** TLS 1.3, and of TLS 1.2 only forward secret suites with authenticated encryption (RFC 9325, 4.2). */
const CIPHERS = [
  "TLS_AES_256_GCM_SHA384",
  "TLS_AES_128_GCM_SHA256",
  "TLS_CHACHA20_POLY1305_SHA256",
  "ECDHE-ECDSA-AES256-GCM-SHA384",
  "ECDHE-RSA-AES256-GCM-SHA384",
  "ECDHE-ECDSA-AES128-GCM-SHA256",
  "ECDHE-RSA-AES128-GCM-SHA256",
  "ECDHE-ECDSA-CHACHA20-POLY1305",
  "ECDHE-RSA-CHACHA20-POLY1305",
].join(":");

/** Options of `tls.createServer` and `setSecureContext` for the edge. */
export function tlsServerOptions({ certificate, key, anchors, clientCertificate }: EdgeTls) {
  const own = { cert: certificate, key, minVersion: "TLSv1.2" as const, ciphers: CIPHERS };
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
