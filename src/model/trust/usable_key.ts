import type { KeyObject, X509Certificate } from "node:crypto";

/** Longest RSA keys in bits that Deno 2.9.6 reads. */
export const MOST_RSA_BITS = 4096;

/** Description of usable keys for messages. */
export const USABLE_KEYS = `a key for elliptic curves, or of RSA with 2048 to ${MOST_RSA_BITS} bits`;

/** Returns a certificate's public key, if signatures with it can be verified. */
export function usableKeyOf(certificate: X509Certificate): KeyObject | undefined {
  try {
    const { publicKey } = certificate;
    publicKey.export({ type: "spki", format: "der" });
    return publicKey;
  } catch {
    return undefined;
  }
}
