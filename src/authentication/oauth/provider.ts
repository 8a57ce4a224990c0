import type { Logger } from "../../logging/logger.ts";
import { type Clock, type Stopwatch, stopwatch } from "../../model/clock.ts";
import type { OutgoingHttp, OutgoingRequest, OutgoingResponse } from "../../outgoing/outgoing_http.ts";
import { RemoteHttp } from "../../outgoing/remote_http.ts";
import type { Asker, RemoteStatus } from "../../outgoing/remote_system.ts";
import type { RemoteUnavailable } from "../../outgoing/remote_unavailable.ts";
import {
  endpointOf,
  InvalidMetadata,
  metadataAddresses,
  type ProviderMetadata,
  readMetadata,
} from "./discovery.ts";
import { InvalidKeys, type KeyDocument, readKeys } from "./key_document.ts";

interface ProviderAddresses {
  readonly issuer: string | undefined; // absent: only `address` is contacted
  readonly jwksUri: string | undefined;
  readonly address: string | undefined;
  readonly prefix: string; // configuration prefix with final dot, for messages
}

interface ProviderParts {
  readonly http: OutgoingHttp;
  readonly clock: Clock;
  readonly elapsed?: Stopwatch;
  readonly log: Logger;
}

const METADATA_MS = 60 * 60_000; // cache time of metadata, in milliseconds

/** Identity provider: metadata, endpoints and their status. */
export class Provider {
  readonly #addresses: ProviderAddresses;
  readonly #parts: ProviderParts;
  readonly #elapsed: Stopwatch;
  readonly #systems = new Map<string, RemoteHttp>();
  #metadata: { readonly value: ProviderMetadata; readonly since: number } | undefined;

  constructor(addresses: ProviderAddresses, parts: ProviderParts) {
    this.#addresses = addresses;
    this.#parts = parts;
    this.#elapsed = parts.elapsed ?? stopwatch;
    for (const address of [addresses.issuer, addresses.jwksUri, addresses.address]) {
      if (address !== undefined) this.#system(address);
    }
  }

  /** Worst status of its systems. */
  status(): RemoteStatus {
    const all = [...this.#systems.values()].map((system) => system.status());
    const [first] = [
      ...all.filter(({ up }) => !up),
      ...all.filter(({ since }) => since !== undefined),
      ...all,
    ];
    return first ?? { remote: "", up: true };
  }

  /** Sends a request to an endpoint on a caller's behalf. @throws {RemoteUnavailable} What `read` throws. */
  ask<T>(
    request: OutgoingRequest,
    asker: Asker,
    read: (response: OutgoingResponse) => T | Promise<T>,
  ): Promise<T> {
    return this.#system(request.url).ask(request, asker, read);
  }

  /** Reports an unusable response as an outage. */
  unusable(url: string, reason: string, cause?: unknown): RemoteUnavailable {
    return this.#system(url).unusable(reason, cause);
  }

  /** Fetches the keys. @throws {RemoteUnavailable} */
  async keys(asker: Asker): Promise<KeyDocument> {
    const url = this.#addresses.jwksUri ??
      await this.#endpoint((metadata) => metadata.jwksUri, asker, "jwks_uri", "jwksUri");
    return await this.ask(documentRequest(url), asker, ({ status, body }) => {
      if (status !== 200) throw this.unusable(url, `status ${status} for the keys ${url}`);
      try {
        return readKeys(body);
      } catch (error) {
        if (!(error instanceof InvalidKeys)) throw error;
        throw this.unusable(url, `the keys ${url} cannot be used: ${error.message}`, error);
      }
    });
  }

  async tokenEndpoint(sort: "introspection" | "userinfo", asker: Asker): Promise<string> {
    const { address } = this.#addresses;
    const member = ({ introspectionEndpoint, userinfoEndpoint }: ProviderMetadata) =>
      sort === "introspection" ? introspectionEndpoint : userinfoEndpoint;
    return address ?? await this.#endpoint(member, asker, `${sort}_endpoint`, "address");
  }

  codeEndpoint(asker: Asker): Promise<string> {
    return this.#endpoint(({ tokenEndpoint }) => tokenEndpoint, asker, "token_endpoint", "issuer");
  }

  /** Returns the URL for browsers. @throws {RemoteUnavailable} Also without PKCE S256 (RFC 9700, 2.1.1). */
  async authorizationEndpoint(asker: Asker): Promise<string> {
    const { issuer = "" } = this.#addresses;
    const { authorizationEndpoint, challengeMethods } = await this.#document(issuer, asker);
    if (authorizationEndpoint === undefined) {
      throw this.unusable(issuer, "the discovery document names no authorization_endpoint");
    }
    if (new URL(authorizationEndpoint).protocol !== new URL(issuer).protocol) {
      throw this.unusable(issuer, "authorization_endpoint has another scheme than the issuer");
    }
    if (challengeMethods !== undefined && !challengeMethods.includes("S256")) {
      throw this.unusable(issuer, "code_challenge_methods_supported of the discovery document has not S256");
    }
    return authorizationEndpoint;
  }

  /** Returns the URL where browsers log out, if the provider has one of its own scheme. @throws {RemoteUnavailable} */
  async endSessionEndpoint(asker: Asker): Promise<string | undefined> {
    const { issuer = "" } = this.#addresses;
    const { endSessionEndpoint: url } = await this.#document(issuer, asker);
    return url !== undefined && new URL(url).protocol === new URL(issuer).protocol ? url : undefined;
  }

  /** Reports whether responses contain `iss`. @throws {RemoteUnavailable} */
  async namesItself(asker: Asker): Promise<boolean> {
    return (await this.#document(this.#addresses.issuer ?? "", asker)).namesItself;
  }

  async #endpoint(
    member: (metadata: ProviderMetadata) => string | undefined,
    asker: Asker,
    what: string,
    key: string,
  ): Promise<string> {
    const { issuer = "", prefix } = this.#addresses;
    const metadata = await this.#document(issuer, asker);
    try {
      return endpointOf(member(metadata), { issuer, what, key: prefix + key });
    } catch (error) {
      if (error instanceof InvalidMetadata) throw this.unusable(issuer, error.message, error);
      throw error;
    }
  }

  /** Returns metadata, at most an hour old unless the provider is down. */
  async #document(issuer: string, asker: Asker): Promise<ProviderMetadata> {
    const known = this.#metadata;
    if (known !== undefined && this.#elapsed() - known.since < METADATA_MS) return known.value;
    try {
      const value = await this.#discover(issuer, asker);
      this.#metadata = { value, since: this.#elapsed() };
      return value;
    } catch (error) {
      if (known === undefined) throw error;
      this.#parts.log.warn("discovery document not renewed, the last one holds", { error });
      return known.value;
    }
  }

  async #discover(issuer: string, asker: Asker): Promise<ProviderMetadata> {
    const addresses = metadataAddresses(issuer);
    for (const url of addresses) {
      const found = await this.ask(documentRequest(url), asker, ({ status, body }) => {
        if (status === 404 && url !== addresses.at(-1)) return undefined;
        if (status !== 200) throw this.unusable(url, `status ${status} for the discovery document ${url}`);
        try {
          return readMetadata(body, issuer);
        } catch (error) {
          if (error instanceof InvalidMetadata) throw this.unusable(url, error.message, error);
          throw error;
        }
      });
      if (found !== undefined) return found;
    }
    throw this.unusable(issuer, "no discovery document");
  }

  #system(url: string): RemoteHttp {
    const { origin } = new URL(url);
    const known = this.#systems.get(origin);
    if (known !== undefined) return known;
    const made = new RemoteHttp({ address: url, ...this.#parts });
    this.#systems.set(origin, made);
    return made;
  }
}

function documentRequest(url: string): OutgoingRequest {
  return { method: "GET", url, headers: { Accept: "application/json" } };
}
