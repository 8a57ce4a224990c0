import { X509Certificate } from "node:crypto";
import type { TLSSocket } from "node:tls";
import { certificateSubject } from "../model/certificate_subject.ts";
import type { ClientCertificate } from "../model/credentials.ts";
import type { EdgeTls } from "./edge_options.ts";

/**
 * What may be negotiated: TLS 1.3, and of TLS 1.2 only forward secret suites with authenticated encryption (RFC 9325,
 * 4.2). By their name in OpenSSL, with the one of the IANA registry where it is another.
 */
const SUITES: readonly (readonly [openssl: string, iana?: string])[] = [
  ["TLS_AES_256_GCM_SHA384"],
  ["TLS_AES_128_GCM_SHA256"],
  ["TLS_CHACHA20_POLY1305_SHA256"],
  ["ECDHE-ECDSA-AES256-GCM-SHA384", "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384"],
  ["ECDHE-RSA-AES256-GCM-SHA384", "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384"],
  ["ECDHE-ECDSA-AES128-GCM-SHA256", "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256"],
  ["ECDHE-RSA-AES128-GCM-SHA256", "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256"],
  ["ECDHE-ECDSA-CHACHA20-POLY1305", "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256"],
  ["ECDHE-RSA-CHACHA20-POLY1305", "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256"],
];

/** Options of `tls.createServer` and `setSecureContext` for the edge. */
export function tlsServerOptions(
  { certificate, key, anchors, clientCertificate, minVersion, maxVersion, disabledSuites }: EdgeTls,
) {
  const own = { cert: certificate, key, minVersion, maxVersion, ciphers: suitesWithout(disabledSuites) };
  if (clientCertificate === "none") return own;
  return { ...own, ca: [...anchors], requestCert: true, rejectUnauthorized: clientCertificate === "require" };
}

function suitesWithout(disabled: readonly string[]): string {
  return SUITES.filter((names) => !names.some((name) => name !== undefined && disabled.includes(name)))
    .map(([openssl]) => openssl).join(":");
}

/** The certificate the client showed, if it verified; one that did not counts as none. */
export function clientCertificate(socket: TLSSocket): ClientCertificate | undefined {
  if (!socket.authorized) return undefined;
  const { raw } = socket.getPeerCertificate();
  if (raw === undefined) return undefined;
  const shown = new X509Certificate(raw);
  return { subject: certificateSubject(shown), pem: shown.toString() };
}
