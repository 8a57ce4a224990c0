import type { KeyObject, X509Certificate } from "node:crypto";

/** Bits of the longest RSA keys with which signatures are verified here: Deno 2.9.6 reads none that are longer. */
export const MOST_RSA_BITS = 4096;

/** Which keys {@link usableKeyOf} finds, for messages. */
export const USABLE_KEYS = `a key for elliptic curves, or of RSA with 2048 to ${MOST_RSA_BITS} bits`;

/** The public key of a certificate, if signatures with it can be verified here. */
export function usableKeyOf(certificate: X509Certificate): KeyObject | undefined {
  try {
    const { publicKey } = certificate;
    publicKey.export({ type: "spki", format: "der" });
    return publicKey;
  } catch {
    return undefined;
  }
}
