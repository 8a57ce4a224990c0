import type { OutgoingConfig } from "../../config/service_config.ts";
import type { Logger } from "../../logging/logger.ts";
import { HttpsClient } from "../../outgoing/https_client.ts";
import type { OutgoingHttp } from "../../outgoing/outgoing_http.ts";
import { probeCertificate } from "../../outgoing/probe_certificate.ts";
import type { HttpsTrust } from "../../outgoing/https_trust.ts";
import type { OwnCertificate } from "./own_certificate.ts";

/** The clients by which the service reaches other systems: one that shows its certificate, one that does not. */
export class OutgoingClients {
  readonly #clients = new Map<boolean, HttpsClient>();

  constructor(readonly config: OutgoingConfig, readonly own: OwnCertificate, readonly log: Logger) {}

  /** Made when first asked for: most services need none, or one. */
  readonly client = (showCertificate: boolean): OutgoingHttp => {
    const known = this.#clients.get(showCertificate);
    if (known !== undefined) return known;
    const made = new HttpsClient(this.config, this.#trust(showCertificate), this.log);
    this.#clients.set(showCertificate, made);
    return made;
  };

  /** When the certificate of a server ends, as {@link probeCertificate}; one that is reached by `http://` has none. */
  async probeCertificate(
    address: string,
    showCertificate: boolean,
  ): Promise<number | "verified" | undefined> {
    if (new URL(address).protocol === "http:") return undefined;
    const { config, log } = this;
    return await probeCertificate(address, { config, trust: this.#trust(showCertificate), log });
  }

  /** Takes over renewed certificates. */
  renew(): void {
    for (const [showCertificate, client] of this.#clients) client.renew(this.#trust(showCertificate));
  }

  /** Ends kept connections, and with them requests under way. */
  close(): void {
    for (const client of this.#clients.values()) client.close();
  }

  #trust(showCertificate: boolean): HttpsTrust {
    const { anchors, providerAnchors = anchors, publicRoots, certificate, key } = this.own.material();
    return {
      anchors: providerAnchors,
      publicRoots: this.config.publicRoots ? publicRoots : undefined,
      clientCertificate: showCertificate ? { certificate, key } : undefined,
    };
  }
}
