import { checkServerIdentity, type PeerCertificate } from "node:tls";
import type { OutgoingConfig } from "../config/service_config.ts";
import type { Logger } from "../logging/logger.ts";

/**
 * A last look at the certificate of an HTTPS server, after the TLS library has verified its chain and dates.
 * It must be X.509 v3: with an older one the TLS library of Deno 2.9.6 compares the issuer's name alone, not its
 * signature, so that anybody could have made it. And it must name the host, as far as `checking` demands.
 */
export function certificateCheck(
  checking: OutgoingConfig["hostnameChecking"],
  log: Logger,
): (host: string, certificate: PeerCertificate) => Error | undefined {
  return (host, certificate) => {
    if (!isVersion3(certificate.raw)) return new Error(`The certificate of ${host} is not X.509 version 3`);
    if (checking === "NONE") return undefined;
    const mismatch = checkServerIdentity(host, certificate);
    if (mismatch === undefined || checking === "FAIL") return mismatch;
    log.warn("certificate does not name the host, accepted by configuration", { host, error: mismatch });
    return undefined;
  };
}

/** Certificate ::= SEQUENCE { TBSCertificate ::= SEQUENCE { [0] EXPLICIT INTEGER 2, … (RFC 5280 section 4.1). */
function isVersion3(der: Uint8Array | undefined): boolean {
  if (der === undefined) return false;
  const tbs = sequenceContent(der, 0);
  const version = tbs === undefined ? undefined : sequenceContent(der, tbs);
  if (version === undefined) return false;
  return [0xa0, 0x03, 0x02, 0x01, 0x02].every((byte, at) => der[version + at] === byte);
}

/** Where the content of the SEQUENCE at `at` begins. */
function sequenceContent(der: Uint8Array, at: number): number | undefined {
  const length = der[at + 1];
  if (der[at] !== 0x30 || length === undefined) return undefined;
  return length < 0x80 ? at + 2 : at + 2 + (length & 0x7f);
}
