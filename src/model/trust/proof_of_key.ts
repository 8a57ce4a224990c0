import { attempt } from "../attempt.ts";
import { generateKeyPairSync, type X509Certificate } from "node:crypto";
import { BoundedMap } from "../bounded_map.ts";
import { certificateFacts } from "./certificate_facts.ts";

const KNOWN = new BoundedMap<string, boolean>(256);

let otherKey: string | undefined;

/**
 * Reports whether a `node:tls` handshake proves possession of the certificate's key. Deno 2.9.6 **skips the signature
 * check for certificates that webpki cannot read** (version 1, malformed): anybody could present them. With a wrong key
 * of its own, the error for a certificate names the key only if webpki could read the certificate.
 */
export function provesKey(certificate: X509Certificate): boolean {
  const der = certificate.raw.toString("latin1");
  return KNOWN.getOrInsertComputed(der, () => isReadable(certificate) && hasWellFormedKey(certificate));
}

function isReadable(certificate: X509Certificate): boolean {
  otherKey ??= generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey
    .export({ type: "pkcs8", format: "pem" }).toString();
  try {
    Deno.createHttpClient({ cert: certificate.toString(), key: otherKey }).close();
    return false;
  } catch (error) {
    return error instanceof TypeError && error.message.includes("KeyMismatch");
  }
}

/** A malformed key is skipped in the same way. */
function hasWellFormedKey(certificate: X509Certificate): boolean {
  return attempt(() => certificateFacts(certificate).hasWellFormedKey, Error, () => false);
}
