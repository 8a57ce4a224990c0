import { X509Certificate } from "node:crypto";
import { type PeerCertificate, TLSSocket } from "node:tls";

/** Certificates of one chain that are looked at. */
const MAX_CHAIN = 16;

/** What the platform tells about a certificate, and the one that it found to have issued it. */
type Shown = PeerCertificate & { readonly issuerCertificate?: Shown };

/**
 * The certificate of the other side, and behind it one that it sent or that the platform found for it: enough for most,
 * and quickly had.
 */
export function shortChain(socket: TLSSocket): X509Certificate[] {
  const chain: X509Certificate[] = [];
  for (let next = socket.getPeerX509Certificate(); next !== undefined && chain.length < MAX_CHAIN;) {
    chain.push(next);
    next = next.issuerCertificate;
  }
  return chain;
}

/** All that the other side sent, as far as the platform can put it in order: a chain of any length. */
export function wholeChain(socket: TLSSocket): X509Certificate[] {
  const chain: X509Certificate[] = [];
  let next: Shown | undefined = TLSSocket.prototype.getPeerCertificate.call(socket, true);
  while (next?.raw !== undefined && chain.length < MAX_CHAIN) {
    chain.push(new X509Certificate(next.raw));
    next = next.issuerCertificate === next ? undefined : next.issuerCertificate;
  }
  return chain;
}
