import { type ConnectionOptions, rootCertificates } from "node:tls";
import type { OutgoingConfig } from "../config/service_config.ts";
import type { Logger } from "../logging/logger.ts";
import { certificateCheck } from "./server_certificate.ts";

/** Whom to trust on connections to other systems, and as whom to appear. */
export interface HttpsTrust {
  /** Trust anchors as PEM, one certificate each; they replace the public roots unless those are switched on. */
  readonly anchors: readonly string[];
  /** Own certificate chain and key as PEM, to be shown to servers that ask. */
  readonly clientCertificate?: { readonly certificate: string; readonly key: string };
}

/** How every TLS connection to another system is made. */
export function tlsOptions(
  { publicRoots, hostnameChecking }: OutgoingConfig,
  { anchors, clientCertificate }: HttpsTrust,
  log: Logger,
): ConnectionOptions & { readonly ca: string[] } {
  return {
    ca: [...anchors, ...(publicRoots ? rootCertificates : [])],
    cert: clientCertificate?.certificate,
    key: clientCertificate?.key,
    checkServerIdentity: certificateCheck(hostnameChecking, log),
  };
}
