import type { TLSSocket } from "node:tls";
import { certificateSubject } from "../model/certificate_subject.ts";
import type { ClientCertificate } from "../model/credentials.ts";
import { findPath } from "../model/trust/certificate_path.ts";
import { provesKey } from "../model/trust/proof_of_key.ts";
import { wholeChain } from "../model/trust/shown_chain.ts";
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

/**
 * The certificate the client showed, if it verified; one that did not counts as none. The TLS library takes every trusted
 * certificate for one that may issue others; whether it may is for us to judge.
 * @param at Milliseconds since the epoch.
 */
export function clientCertificate(
  socket: TLSSocket,
  { anchors, revocation }: Pick<EdgeTls, "anchors" | "revocation">,
  at: number,
): ClientCertificate | undefined {
  if (!socket.authorized) return undefined;
  const chain = wholeChain(socket);
  const [shown] = chain;
  if (shown === undefined || !provesKey(shown)) return undefined;
  try {
    const demands = { anchors, purpose: "clientAuth", ...(revocation && { revocation }), at } as const;
    if (typeof findPath(chain, demands) === "string") return undefined;
    return { subject: certificateSubject(shown), pem: shown.toString() };
  } catch {
    return undefined; // not well-formed, so nobody's
  }
}
