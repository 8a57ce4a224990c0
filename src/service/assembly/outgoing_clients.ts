import type { Remote } from "../../config/kind.ts";
import type { OutgoingConfig } from "../../config/service_config.ts";
import type { Logger } from "../../logging/logger.ts";
import type { ConnectionRules } from "../../outgoing/connect_tls.ts";
import type { HttpsClient } from "../../outgoing/https_client.ts";
import type { HttpsTrust, TlsConnection } from "../../outgoing/open_tls.ts";
import type {
  Outgoing,
  OutgoingHttp,
  OutgoingRequest,
  OutgoingResponse,
  TlsRemote,
} from "../../outgoing/outgoing.ts";
import type { OwnCertificate } from "./own_certificate.ts";

/** HTTPS client that is imported on first use: most services reach no other system. */
class LateClient implements OutgoingHttp {
  readonly client: Promise<HttpsClient>;

  constructor(config: OutgoingConfig, trust: HttpsTrust, log: Logger, readonly connectionsPerHost: number) {
    this.client = import("../../outgoing/https_client.ts").then(({ HttpsClient }) =>
      new HttpsClient(config, trust, log)
    );
  }

  async send(request: OutgoingRequest, signal: AbortSignal): Promise<OutgoingResponse> {
    return await (await this.client).send(request, signal);
  }
}

/** Clients for other systems, with and without client certificate. */
export class OutgoingClients implements Outgoing {
  readonly #clients = new Map<boolean, LateClient>();

  constructor(readonly config: OutgoingConfig, readonly own: OwnCertificate, readonly log: Logger) {}

  get connectionsPerHost(): number {
    return Math.min(this.config.maxConnectionsPerHost, this.config.maxConnections);
  }

  /** Created on first use: most services need at most one. */
  http(showCertificate: boolean = this.config.showCertificate): OutgoingHttp {
    return this.#clients.getOrInsertComputed(showCertificate, () => {
      return new LateClient(this.config, this.#trust(showCertificate), this.log, this.connectionsPerHost);
    });
  }

  async connect(remote: TlsRemote, signal: AbortSignal): Promise<TlsConnection> {
    const { connectTls } = await import("../../outgoing/connect_tls.ts");
    return await connectTls(remote, await this.#rulesFor(remote), signal);
  }

  /** Returns the end of a server's certificate; see {@link probeCertificate}. Skips unencrypted connections. */
  async probeCertificate(remote: Remote): Promise<number | "verified" | undefined> {
    if (remote.plain || new URL(remote.address).protocol === "http:") return undefined;
    const { probeCertificate } = await import("../../outgoing/connect_tls.ts");
    return await probeCertificate(remote, await this.#rulesFor(remote));
  }

  renew(): void {
    for (const [showCertificate, { client }] of this.#clients) {
      const trust = this.#trust(showCertificate);
      void client.then((loaded) => loaded.renew(trust));
    }
  }

  async close(): Promise<void> {
    for (const { client } of this.#clients.values()) (await client).close();
  }

  /** Only HTTPS goes through the HTTP proxy. */
  async #rulesFor(remote: TlsRemote): Promise<ConnectionRules> {
    const { address, showCertificate = this.config.showCertificate } = remote;
    const trust = this.#trust(showCertificate);
    const anchors = await remote.anchors?.();
    return {
      config: new URL(address).protocol === "https:" ? this.config : { ...this.config, proxy: undefined },
      trust: anchors === undefined ? trust : { ...trust, anchors, publicRoots: undefined },
      log: this.log,
    };
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
