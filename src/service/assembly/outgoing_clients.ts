import type { OutgoingConfig } from "../../config/service_config.ts";
import type { Logger } from "../../logging/logger.ts";
import { HttpsClient } from "../../outgoing/https_client.ts";
import type { OutgoingHttp } from "../../outgoing/outgoing_http.ts";
import { probeCertificate } from "../../outgoing/probe_certificate.ts";
import type { HttpsTrust } from "../../outgoing/https_trust.ts";
import type { OwnCertificate } from "./own_certificate.ts";

/** HTTP clients for other systems, with and without client certificate. */
export class OutgoingClients {
  readonly #clients = new Map<boolean, HttpsClient>();

  constructor(readonly config: OutgoingConfig, readonly own: OwnCertificate, readonly log: Logger) {}

  /** Created on first use: most services need at most one. */
  readonly client = (showCertificate: boolean): OutgoingHttp => {
    const known = this.#clients.get(showCertificate);
    if (known !== undefined) return known;
    const made = new HttpsClient(this.config, this.#trust(showCertificate), this.log);
    this.#clients.set(showCertificate, made);
    return made;
  };

  /** Returns the end of a server's certificate; see {@link probeCertificate}. Skips `http://`. */
  async probeCertificate(
    address: string,
    showCertificate: boolean,
  ): Promise<number | "verified" | undefined> {
    if (new URL(address).protocol === "http:") return undefined;
    const { config, log } = this;
    return await probeCertificate(address, { config, trust: this.#trust(showCertificate), log });
  }

  /** Applies renewed certificates. */
  renew(): void {
    for (const [showCertificate, client] of this.#clients) client.renew(this.#trust(showCertificate));
  }

  /** Closes connections and their requests. */
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
