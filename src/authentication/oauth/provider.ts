import { attempt } from "../../model/attempt.ts";
import { Buffer } from "node:buffer";
import type { JWK } from "jose";
import { type Stopwatch, stopwatch } from "../../model/clock.ts";
import { printable } from "../../model/text.ts";
import type { OutgoingHttp, OutgoingRequest } from "../../outgoing/outgoing.ts";
import { RemoteHttp } from "../../outgoing/remote_http.ts";
import type { RemoteStatus, RemoteSystemOptions, Requester } from "../../outgoing/remote_system.ts";
import type { RemoteUnavailable } from "../../outgoing/remote_unavailable.ts";
import { InvalidReply, parseReply } from "../claims.ts";
import type { Variables } from "../expression/value.ts";
import { MAX_RSA_BITS, MIN_RSA_BITS } from "../../model/trust/certificate_facts.ts";
import { isJsonObject } from "../../model/json_object.ts";
import { errorText, refusalIn } from "../provider_answers.ts";
import { InvalidToken, SECRET_MEMBERS } from "../signed_token.ts";
import { clientLogin, formRequest } from "./client_login.ts";
import type { OAuthConfig } from "./oauth_config.ts";

/** Members of provider metadata with URLs (OIDC Discovery 1.0, 3; RFC 8414, 2; OIDC RP-Initiated Logout 1.0, 2.1). */
const ENDPOINTS = [
  ...["jwks_uri", "introspection_endpoint", "userinfo_endpoint"] as const,
  ...["authorization_endpoint", "token_endpoint", "end_session_endpoint"] as const,
];
type EndpointName = typeof ENDPOINTS[number];

interface ProviderMetadata {
  readonly endpoints: ReadonlyMap<EndpointName, string>;
  readonly challengeMethods?: readonly unknown[]; // PKCE methods (RFC 7636); absent: not stated
  readonly sendsIssuer: boolean; // whether responses contain `iss` (RFC 9207, 3)
}

/** Returns the URLs of an issuer's metadata by OIDC Discovery 1.0, 4 and RFC 8414, 3.1. */
export function metadataAddresses(issuer: string): readonly string[] {
  const { origin, pathname } = new URL(issuer);
  const path = pathname.endsWith("/") ? pathname.slice(0, -1) : pathname;
  return [
    `${origin}${path}/.well-known/openid-configuration`,
    `${origin}/.well-known/oauth-authorization-server${path}`,
  ];
}

/** Parses metadata. It must name the same issuer (OIDC Discovery 1.0, 4.3; RFC 8414, 3.3). @throws {InvalidReply} */
export function readMetadata(body: string, issuer: string): ProviderMetadata {
  const document = parseJson(body, "discovery document");
  if (!isJsonObject(document)) throw new InvalidReply("the discovery document is no JSON object");
  if (document.issuer !== issuer) {
    const found = typeof document.issuer === "string" ? document.issuer.slice(0, 200) : "no issuer";
    throw new InvalidReply(`the discovery document is of ${printable(found)}, expected ${issuer}`);
  }
  const methods = document.code_challenge_methods_supported;
  return {
    endpoints: new Map(ENDPOINTS.flatMap((name) => {
      const url = webAddress(document[name], name);
      return url === undefined ? [] : [[name, url]];
    })),
    challengeMethods: Array.isArray(methods) ? methods : undefined,
    sendsIssuer: document.authorization_response_iss_parameter_supported === true,
  };
}

function parseJson(body: string, what: string): unknown {
  return attempt(() => JSON.parse(body), SyntaxError, (cause) => {
    throw new InvalidReply(`the ${what} is no JSON`, { cause });
  });
}

const MAX_ADDRESS = 2000; // characters

function webAddress(value: unknown, member: string): string | undefined {
  if (value === undefined || value === null) return undefined;
  const url = typeof value === "string" && value.length <= MAX_ADDRESS ? URL.parse(value) : null;
  if (typeof value !== "string" || url === null || !["https:", "http:"].includes(url.protocol)) {
    throw new InvalidReply(`${member} of the discovery document is no web address`);
  }
  if (url.username === "" && url.password === "" && url.hash === "") return value;
  throw new InvalidReply(
    `${member} of the discovery document has a user name, a password or a fragment`,
  );
}

const MOST_KEYS = 100;
/** Characters (64 bits): longer exponents are unused, and cost milliseconds per signature. */
const MOST_OF_EXPONENT = 11;

/** Parses a key set without unusable keys: encryption, weak, or private ones, with which anybody could sign (RFC 8725, 3.5). @throws {InvalidReply} */
export function readKeys(body: string) {
  const document = parseJson(body, "key set");
  const listed: unknown = isJsonObject(document) ? document.keys : undefined;
  if (!Array.isArray(listed)) throw new InvalidReply("the key set is no JSON object with a list of keys");
  if (listed.length > MOST_KEYS) throw new InvalidReply(`more than ${MOST_KEYS} keys`);
  const leftOut = new Set<string>();
  const keys = listed.filter((key): key is JWK => {
    const diagnostic = diagnosticOf(key);
    if (diagnostic !== undefined) leftOut.add(diagnostic);
    return diagnostic === undefined;
  });
  if (keys.length === 0) {
    const why = [...leftOut].join(", ");
    throw new InvalidReply(why === "" ? "no key at all" : `no key that could be used: ${why}`);
  }
  return { body, keys: { keys }, leftOut: [...leftOut] }; // the distinct reasons for ignored keys are for the log
}

function diagnosticOf(key: unknown): string | undefined {
  if (!isJsonObject(key)) return "no JSON object";
  if (SECRET_MEMBERS.some((member) => Object.hasOwn(key, member))) return "a secret key";
  if (key.kid !== undefined && typeof key.kid !== "string") return "a kid that is no text";
  if (key.use !== undefined && key.use !== "sig") return "not for signatures";
  switch (key.kty) {
    case "RSA":
      if (typeof key.e !== "string" || key.e.length > MOST_OF_EXPONENT) return "RSA with a long exponent";
      return typeof key.n === "string" && hasUsableLength(key.n)
        ? undefined
        : `RSA of other than ${MIN_RSA_BITS} to ${MAX_RSA_BITS} bits`;
    case "EC":
      return ["P-256", "P-384", "P-521"].includes(String(key.crv)) ? undefined : "another curve";
    case "OKP":
      return key.crv === "Ed25519" ? undefined : "another curve";
    default:
      return "another sort of key";
  }
}

function hasUsableLength(modulus: string): boolean {
  if (modulus.length > MAX_RSA_BITS) return false;
  const hex = Buffer.from(modulus, "base64url").toString("hex").replace(/^0+/, "");
  const bits = hex === "" ? 0 : hex.length * 4 - (Math.clz32(parseInt(hex.charAt(0), 16)) - 28);
  return bits >= MIN_RSA_BITS && bits <= MAX_RSA_BITS;
}

/** Without an issuer, only `address` is contacted. */
type ProviderConfig = Pick<OAuthConfig, "issuer" | "jwksUri" | "address" | "prefix" | "introspection">;

type ProviderParts = Pick<RemoteSystemOptions, "clock" | "elapsed" | "log"> & { readonly http: OutgoingHttp };

const METADATA_MS = 60 * 60_000; // cache time of metadata, in milliseconds

/** Identity provider: metadata, endpoints and their status. */
export class Provider {
  readonly #elapsed: Stopwatch;
  readonly #systems = new Map<string, RemoteHttp>();
  #metadata: { readonly value: ProviderMetadata; readonly since: number } | undefined;

  constructor(readonly config: ProviderConfig, readonly parts: ProviderParts) {
    this.#elapsed = parts.elapsed ?? stopwatch;
    for (const address of [config.issuer, config.jwksUri, config.address]) {
      if (address !== undefined) this.#system(address);
    }
  }

  status(): RemoteStatus {
    const all = [...this.#systems.values()].map((system) => system.status());
    const [first] = [
      ...all.filter(({ up }) => !up),
      ...all.filter(({ since }) => since !== undefined),
      ...all,
    ];
    return first ?? { remote: "", up: true };
  }

  /** Sends a request to an endpoint on a caller's behalf. @throws {RemoteUnavailable} Also what `read` throws. */
  readonly ask: RemoteHttp["ask"] = (request, ...more) => this.#system(request.url).ask(request, ...more);

  unusable(url: string, reason: string, cause?: unknown): RemoteUnavailable {
    return this.#system(url).unusable(reason, cause);
  }

  async keys(caller: Requester) {
    const url = this.config.jwksUri ?? await this.#endpoint("jwks_uri", "jwksUri", caller);
    return await this.ask(getRequest(url), caller, ({ status, body }) => {
      if (status !== 200) throw this.unusable(url, `status ${status} for the keys ${url}`);
      return this.#read(url, () => readKeys(body), `the keys ${url} cannot be used: `);
    });
  }

  /**
   * Returns what the provider says about a token: at userinfo (OIDC Core 1.0, 5.3) with the token, or at introspection
   * (RFC 7662) as a client. Only a status about the token refuses it; one about client or provider is an outage.
   * @throws {InvalidToken | RemoteUnavailable}
   */
  async inspectToken(token: string, caller: Requester): Promise<Variables> {
    const { introspection, issuer } = this.config;
    const sort = introspection === undefined ? "userinfo" : "introspection";
    const url = await this.tokenEndpoint(sort, caller);
    const request = introspection === undefined
      ? getRequest(url, { Authorization: `Bearer ${token}` })
      : formRequest(
        url,
        await clientLogin(introspection, { audience: issuer ?? url, now: this.parts.clock() }),
        [["token", token]],
      );
    const secret = introspection === undefined || "key" in introspection ? "" : introspection.clientSecret;
    const reply = await this.ask(request, caller, (response) => {
      const text = errorText(response, [token, secret]);
      const detail = text && `, ${text}`;
      const refusal = refusalIn(sort, response);
      if (refusal !== undefined) return new InvalidToken(`${refusal}${detail}`);
      const { status, headers, body } = response;
      if (status < 200 || status >= 300) throw this.unusable(url, `unexpected status ${status}${detail}`);
      if (headers["content-type"]?.startsWith("application/jwt")) {
        throw this.unusable(url, "signed userinfo replies (application/jwt) are not supported");
      }
      const claims = this.#read(url, () => parseReply(body));
      const active = claims.get("active");
      return active === "true" || (active === undefined && sort === "userinfo")
        ? claims
        : new InvalidToken("the token is not active");
    });
    if (reply instanceof InvalidToken) throw reply;
    return reply;
  }

  async tokenEndpoint(sort: "introspection" | "userinfo", caller: Requester): Promise<string> {
    return this.config.address ?? await this.#endpoint(`${sort}_endpoint`, "address", caller);
  }

  codeEndpoint(caller: Requester): Promise<string> {
    return this.#endpoint("token_endpoint", "issuer", caller);
  }

  /** Returns the URL for browsers. @throws {RemoteUnavailable} Also without PKCE S256 (RFC 9700, 2.1.1). */
  async authorizationEndpoint(caller: Requester): Promise<string> {
    const { issuer = "" } = this.config;
    const { endpoints, challengeMethods } = await this.#document(caller);
    const url = endpoints.get("authorization_endpoint");
    if (url === undefined) {
      throw this.unusable(issuer, "the discovery document names no authorization_endpoint");
    }
    if (new URL(url).protocol !== new URL(issuer).protocol) {
      throw this.unusable(issuer, "authorization_endpoint has another scheme than the issuer");
    }
    if (challengeMethods !== undefined && !challengeMethods.includes("S256")) {
      throw this.unusable(issuer, "code_challenge_methods_supported of the discovery document has not S256");
    }
    return url;
  }

  /** Returns the URL where browsers log out, if the provider has one of its own scheme. @throws {RemoteUnavailable} */
  async endSessionEndpoint(caller: Requester): Promise<string | undefined> {
    const { issuer = "" } = this.config;
    const url = (await this.#document(caller)).endpoints.get("end_session_endpoint");
    return url !== undefined && new URL(url).protocol === new URL(issuer).protocol ? url : undefined;
  }

  /** Reports whether responses contain `iss`. @throws {RemoteUnavailable} */
  async sendsIssuer(caller: Requester): Promise<boolean> {
    return (await this.#document(caller)).sendsIssuer;
  }

  /** Returns an endpoint of the issuer's origin: others are not contacted. @param key Alternative in the configuration. */
  async #endpoint(name: EndpointName, key: string, caller: Requester): Promise<string> {
    const { issuer = "", prefix } = this.config;
    const endpoint = (await this.#document(caller)).endpoints.get(name);
    const expected = `expected ${prefix}${key}`;
    if (endpoint === undefined) {
      throw this.unusable(issuer, `the discovery document names no ${name}, ${expected}`);
    }
    if (new URL(endpoint).origin !== new URL(issuer).origin) {
      const found = printable(endpoint);
      throw this.unusable(
        issuer,
        `${name} ${found} is on another host or port than the issuer, ${expected}=${found}`,
      );
    }
    return endpoint;
  }

  /** Returns metadata, at most an hour old unless the provider is down. */
  async #document(caller: Requester): Promise<ProviderMetadata> {
    const known = this.#metadata;
    if (known !== undefined && this.#elapsed() - known.since < METADATA_MS) return known.value;
    try {
      const value = await this.#discover(caller);
      this.#metadata = { value, since: this.#elapsed() };
      return value;
    } catch (error) {
      if (known === undefined) throw error;
      this.parts.log.warn("discovery document not renewed, the previous one stays in use", { error });
      return known.value;
    }
  }

  async #discover(caller: Requester): Promise<ProviderMetadata> {
    const { issuer = "" } = this.config;
    const addresses = metadataAddresses(issuer);
    for (const url of addresses) {
      const found = await this.ask(getRequest(url), caller, ({ status, body }) => {
        if (status === 404 && url !== addresses.at(-1)) return undefined;
        if (status !== 200) throw this.unusable(url, `status ${status} for the discovery document ${url}`);
        return this.#read(url, () => readMetadata(body, issuer));
      });
      if (found !== undefined) return found;
    }
    throw this.unusable(issuer, "no discovery document");
  }

  #read<T>(url: string, read: () => T, prefix = ""): T {
    return attempt(read, InvalidReply, (error) => {
      throw this.unusable(url, prefix + error.message, error);
    });
  }

  #system(url: string): RemoteHttp {
    const { origin } = new URL(url);
    return this.#systems.getOrInsertComputed(origin, () => new RemoteHttp({ address: url, ...this.parts }));
  }
}

function getRequest(url: string, headers: Readonly<Record<string, string>> = {}): OutgoingRequest {
  return { method: "GET", url, headers: { Accept: "application/json", ...headers } };
}
