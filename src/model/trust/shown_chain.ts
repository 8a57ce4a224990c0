import { X509Certificate } from "node:crypto";
import { type PeerCertificate, TLSSocket } from "node:tls";

/** Certificates of one chain that are looked at. */
const MAX_CHAIN = 16;

/** What the platform tells about a certificate, and the one that it found to have issued it. */
type Shown = PeerCertificate & { readonly issuerCertificate?: Shown };

/**
 * The certificate of the other side, and behind it one that it sent or that the platform found for it: enough for most,
 * and quickly had. Ends before one that cannot be read.
 */
export function shortChain(socket: TLSSocket): X509Certificate[] {
  return readable(function* () {
    for (let next = socket.getPeerX509Certificate(); next !== undefined; next = next.issuerCertificate) {
      yield next;
    }
  });
}

/** All that the other side sent, as far as the platform can put it in order and read it: a chain of any length. */
export function wholeChain(socket: TLSSocket): X509Certificate[] {
  return readable(function* () {
    let next: Shown | undefined = TLSSocket.prototype.getPeerCertificate.call(socket, true);
    while (next?.raw !== undefined) {
      yield new X509Certificate(next.raw);
      next = next.issuerCertificate === next ? undefined : next.issuerCertificate;
    }
  });
}

/** The platform throws at what it cannot read, and the other side chose what that is. */
function readable(certificates: () => Iterable<X509Certificate>): X509Certificate[] {
  const chain: X509Certificate[] = [];
  try {
    for (const certificate of certificates()) {
      chain.push(certificate);
      if (chain.length === MAX_CHAIN) break;
    }
  } catch {
    // What came before counts.
  }
  return chain;
}
