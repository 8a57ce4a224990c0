import { printable } from "../../model/text.ts";
import { isJsonObject } from "../json_object.ts";

/** Used part of provider metadata (OIDC Discovery 1.0, 3; RFC 8414, 2). */
export interface ProviderMetadata {
  readonly jwksUri?: string;
  readonly introspectionEndpoint?: string;
  readonly userinfoEndpoint?: string;
  readonly authorizationEndpoint?: string;
  readonly tokenEndpoint?: string;
  readonly endSessionEndpoint?: string; // OIDC RP-Initiated Logout 1.0, 2.1
  readonly challengeMethods?: readonly unknown[]; // PKCE methods (RFC 7636); absent: not stated
  readonly namesItself: boolean; // whether responses contain `iss` (RFC 9207, 3)
}

/** Error for unusable metadata, for log and operator. */
export class InvalidMetadata extends Error {}

/** Returns the URLs of an issuer's metadata by OIDC Discovery 1.0, 4 and RFC 8414, 3.1. */
export function metadataAddresses(issuer: string): readonly string[] {
  const { origin, pathname } = new URL(issuer);
  const path = pathname.endsWith("/") ? pathname.slice(0, -1) : pathname;
  return [
    `${origin}${path}/.well-known/openid-configuration`,
    `${origin}/.well-known/oauth-authorization-server${path}`,
  ];
}

/** Parses metadata. It must name the same issuer (OIDC Discovery 1.0, 4.3; RFC 8414, 3.3). @throws {InvalidMetadata} */
export function readMetadata(body: string, issuer: string): ProviderMetadata {
  const document = parse(body);
  if (!isJsonObject(document)) throw new InvalidMetadata("the discovery document is no JSON object");
  if (document.issuer !== issuer) {
    const found = typeof document.issuer === "string" ? document.issuer.slice(0, 200) : "no issuer";
    throw new InvalidMetadata(
      `the discovery document is of ${printable(found)}, expected ${issuer}`,
    );
  }
  const methods = document.code_challenge_methods_supported;
  return {
    jwksUri: endpoint(document, "jwks_uri"),
    introspectionEndpoint: endpoint(document, "introspection_endpoint"),
    userinfoEndpoint: endpoint(document, "userinfo_endpoint"),
    authorizationEndpoint: endpoint(document, "authorization_endpoint"),
    tokenEndpoint: endpoint(document, "token_endpoint"),
    endSessionEndpoint: endpoint(document, "end_session_endpoint"),
    challengeMethods: Array.isArray(methods) ? methods : undefined,
    namesItself: document.authorization_response_iss_parameter_supported === true,
  };
}

/** Returns an endpoint of the issuer's origin: others are not contacted. @throws {InvalidMetadata} */
export function endpointOf(
  endpoint: string | undefined,
  { issuer, what, key }: { readonly issuer: string; readonly what: string; readonly key: string },
): string {
  if (endpoint === undefined) {
    throw new InvalidMetadata(`the discovery document names no ${what}, expected ${key}`);
  }
  if (new URL(endpoint).origin !== new URL(issuer).origin) {
    throw new InvalidMetadata(
      `${what} ${printable(endpoint)} is on another host or port than the issuer, expected ${key}=${
        printable(endpoint)
      }`,
    );
  }
  return endpoint;
}

function parse(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch (cause) {
    throw new InvalidMetadata("the discovery document is no JSON", { cause });
  }
}

function endpoint(document: Readonly<Record<string, unknown>>, member: string): string | undefined {
  const value = document[member];
  if (value === undefined || value === null) return undefined;
  const url = typeof value === "string" && value.length <= MAX_ADDRESS ? URL.parse(value) : null;
  if (typeof value !== "string" || url === null || !["https:", "http:"].includes(url.protocol)) {
    throw new InvalidMetadata(`${member} of the discovery document is no web address`);
  }
  if (url.username !== "" || url.password !== "" || url.hash !== "") {
    throw new InvalidMetadata(
      `${member} of the discovery document has a user name, a password or a fragment`,
    );
  }
  return value;
}

const MAX_ADDRESS = 2000; // characters
