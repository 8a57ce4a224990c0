import { generateKeyPairSync, type X509Certificate } from "node:crypto";
import { BoundedMap } from "../bounded_map.ts";
import { certificateFacts } from "./certificate_facts.ts";

/** Outcomes for certificates seen lately, by their bytes. */
const KNOWN = new BoundedMap<string, boolean>(256);

let stranger: string | undefined;

/**
 * Whether a completed handshake of `node:tls` proves that the other side has the key of its certificate. Deno 2.9.6
 * verifies the handshake's signature with the library webpki, and **takes it as good where webpki cannot read the
 * certificate** (version 1, or encoded against the book): whoever has seen such a certificate can show it.
 *
 * Deno tells no more about webpki than this: given a certificate as its own with a key that does not fit, it says that
 * the key does not fit only after webpki has read the certificate. Anything else it says is no proof.
 */
export function provesKey(certificate: X509Certificate): boolean {
  const der = certificate.raw.toString("latin1");
  const known = KNOWN.get(der);
  if (known !== undefined) return known;
  const proven = isReadable(certificate) && hasWellFormedKey(certificate);
  KNOWN.set(der, proven);
  return proven;
}

function isReadable(certificate: X509Certificate): boolean {
  stranger ??= generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey
    .export({ type: "pkcs8", format: "pem" }).toString();
  try {
    Deno.createHttpClient({ cert: certificate.toString(), key: stranger }).close();
    return false;
  } catch (error) {
    return error instanceof TypeError && error.message.includes("KeyMismatch");
  }
}

/** The key's own encoding is looked at when the signature is: what is wrong there is passed over just the same. */
function hasWellFormedKey(certificate: X509Certificate): boolean {
  try {
    return certificateFacts(certificate).hasWellFormedKey;
  } catch {
    return false;
  }
}
