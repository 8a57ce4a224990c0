import { attempt } from "../model/attempt.ts";
import type { TLSSocket } from "node:tls";
import { certificateSubject } from "../model/certificate_subject.ts";
import { printable } from "../model/text.ts";
import type { Peer } from "../model/http_message.ts";
import { certificateFacts, isValidAt, validityOf } from "../model/trust/certificate_facts.ts";
import { findPath, pathReference } from "../model/trust/certificate_path.ts";
import { provesKey } from "../model/trust/proof_of_key.ts";
import { shortChain, wholeChain } from "../model/trust/peer_chain.ts";
import type { EdgeTls } from "./edge_options.ts";

/** Returns options for `tls.createServer`. The runtime's suites are fixed: for TLS 1.2 forward secret AEAD (RFC 9325, 4.2). */
export function tlsServerOptions(
  { certificate, key, anchors, clientCertificate, minVersion, maxVersion }: EdgeTls,
) {
  const own = { cert: certificate, key, minVersion, maxVersion, ALPNProtocols: ["http/1.1", "http/1.0"] };
  if (clientCertificate === "none") return own;
  return {
    ...own,
    ca: [...anchors],
    requestCert: true,
    rejectUnauthorized: clientCertificate === "required",
  };
}

/**
 * Returns the verified client certificate with the earliest expiry in its path, or the reason to ignore it.
 * The TLS library lets any trusted certificate issue others, so this function checks the path itself.
 * @param at Milliseconds since the epoch.
 */
export function clientCertificate(
  socket: TLSSocket,
  { anchors, revocation }: Pick<EdgeTls, "anchors" | "revocation">,
  at: number,
): (Pick<Peer, "certificate" | "unusableCertificate"> & { readonly until?: number }) | undefined {
  const chain = wholeChain(socket);
  const [shown] = chain;
  if (shown === undefined) return undefined;
  // The TLS library treats version 1 like untrusted certificates.
  const isOld = () => attempt(() => certificateFacts(shown).version < 3, Error, () => false);
  if (!socket.authorized) return isOld() ? unusable(PROVES_NOTHING) : undefined;
  if (!provesKey(shown)) return unusable(PROVES_NOTHING);
  try {
    const way = findPath(chain, { anchors, purpose: "clientAuth", revocation, at });
    if (typeof way === "string") return unusable(way);
    const until = Math.min(...way.map(({ to }) => to));
    const certificate = { subject: certificateSubject(shown), pem: shown.toString() };
    return { until, certificate: { ...certificate, path: pathReference(way) } };
  } catch {
    return unusable("it is not well-formed");
  }
}

/** Returns for the log why a client certificate was ignored; the library gives no reason. */
export function ignoredReason(socket: TLSSocket, at: number): string | undefined {
  const [shown] = socket.authorized ? [] : shortChain(socket);
  if (shown === undefined) return undefined;
  try {
    if (certificateFacts(shown).authority) return "it is an authority's (CA:TRUE), expected CA:FALSE";
    if (!isValidAt(validityOf(shown), at)) return "it has expired, or is not valid yet";
  } catch {
    return "it is not well-formed";
  }
  return "no trusted authority is known to have issued it";
}

const PROVES_NOTHING =
  "it is not of X.509 version 3, or not valid DER: a TLS handshake with it proves nothing";

function unusable(reason: string): Pick<Peer, "unusableCertificate"> {
  return { unusableCertificate: printable(`the client's certificate cannot be used: ${reason}`) };
}
