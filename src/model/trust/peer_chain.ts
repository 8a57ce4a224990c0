import { X509Certificate } from "node:crypto";
import { type PeerCertificate, TLSSocket } from "node:tls";

const MAX_CHAIN = 16;

/** Certificate of the peer with its issuer, as the platform links them. */
type ChainedCertificate = PeerCertificate & { readonly issuerCertificate?: ChainedCertificate };

/** Returns the peer's certificate and its issuer, up to the first unreadable one: cheap, and enough for most. */
export function shortChain(socket: TLSSocket): X509Certificate[] {
  return readable(function* () {
    for (let next = socket.getPeerX509Certificate(); next !== undefined; next = next.issuerCertificate) {
      yield next;
    }
  });
}

/** Returns the peer's whole chain, as far as the platform can order and read it. */
export function wholeChain(socket: TLSSocket): X509Certificate[] {
  return readable(function* () {
    let next: ChainedCertificate | undefined = TLSSocket.prototype.getPeerCertificate.call(socket, true);
    while (next?.raw !== undefined) {
      yield new X509Certificate(next.raw);
      next = next.issuerCertificate === next ? undefined : next.issuerCertificate;
    }
  });
}

/** Stops at the first certificate that the platform cannot read, since the peer chooses them. */
function readable(certificates: () => Iterable<X509Certificate>): X509Certificate[] {
  const chain: X509Certificate[] = [];
  try {
    for (const certificate of certificates()) {
      chain.push(certificate);
      if (chain.length === MAX_CHAIN) break;
    }
  } catch {
    // Keep the certificates before it.
  }
  return chain;
}
