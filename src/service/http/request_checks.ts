import { LEGACY_SSH_HEADER, MAX_AUTHORIZATION } from "../../authentication/parse_credentials.ts";
import type { HeaderList, HttpRequest } from "../../model/http_message.ts";
import { httpError, invalidRequest } from "../../model/http_error.ts";
import { FORM_TOKEN_HEADER } from "../../resource/form.ts";
import { PREFERENCES_HEADER } from "../identify.ts";
import type { QueryType } from "./router.ts";
import type { GatewayConfig } from "../../config/service_config.ts";
import { addressInRange, peerAddress } from "../../model/address.ts";
import { trimEndCharacters } from "../../model/text.ts";

/** Characters of each header that the service reads. */
export const HEADER_LIMITS: ReadonlyMap<string, number> = new Map([
  ["Accept", 1024],
  ["Access-Control-Request-Method", 32],
  ["Authorization", MAX_AUTHORIZATION],
  ["Content-Encoding", 64],
  ["Content-Length", 32],
  ["Content-Range", 256],
  ["Content-Type", 256],
  ["Cookie", 32 * 1024],
  ["Depth", 16],
  ["Destination", 8192],
  ["Host", 512],
  ["If", 4096],
  ["If-Match", 2048],
  ["If-Modified-Since", 64],
  ["If-None-Match", 2048],
  ["If-Range", 256],
  ["If-Unmodified-Since", 64],
  ["Lock-Token", 512],
  ["OC-Checksum", 256],
  ["Origin", 512],
  ["Overwrite", 16],
  ["Range", 256],
  ["Repr-Digest", 512],
  ["Sec-Fetch-Site", 64],
  ["Timeout", 256],
  ["Want-Repr-Digest", 256],
  [FORM_TOKEN_HEADER, 64],
  [LEGACY_SSH_HEADER, 2048],
  [PREFERENCES_HEADER, 4096],
  ["Transfer-Encoding", 64],
  ["X-UNICORE-Consignor", 8192],
  ["X-UNICORE-Consignor-IP", 64],
  ["X-UNICORE-Gateway", 2048],
]);

const LIMITS = [...HEADER_LIMITS]; // iterating over a map allocates a pair for each entry

/** Checks the lengths before any header is parsed. @throws {ERR_HEADER_TOO_LONG} */
export function checkHeaderLengths(headers: HeaderList): void {
  let lengths = 0; // set of name lengths, one bit each: few requests have many of these headers
  for (let at = 0; at < headers.fields.length; at += 2) lengths |= 1 << (headers.fields[at]?.length ?? 0);
  for (const [name, limit] of LIMITS) {
    const mayBeThere = (lengths >>> name.length & 1) === 1; // shifts count modulo 32
    if (mayBeThere && (headers.get(name)?.length ?? 0) > limit) {
      throw httpError("ERR_HEADER_TOO_LONG", { name, limit });
    }
  }
}

/** Checks a declared query: a misspelt `limited` must not yield an unlimited token. @throws {ERR_INVALID_REQUEST} */
export function checkQuery(
  query: URLSearchParams,
  declared: Readonly<Record<string, QueryType>> | undefined,
): void {
  if (declared === undefined || query.size === 0) return;
  for (const name of query.keys()) {
    if (!Object.hasOwn(declared, name)) {
      const known = Object.keys(declared).join(", ");
      throw invalidRequest(`There is an unknown query parameter, expected ${known}`);
    }
  }
  for (const [name, type] of Object.entries(declared)) {
    if (type === "array") continue; // the resource checks lists
    const [value, ...more] = query.getAll(name);
    if (more.length > 0) throw invalidRequest(`${name}: expected once in the query`);
    if (value === undefined) continue;
    if (type === "boolean" && !/^(?:true|false)$/i.test(value)) {
      throw invalidRequest(`${name}: expected true or false`);
    }
    if (type === "integer" && !(/^\d{1,15}$/.test(value) && Number(value) > 0)) {
      throw invalidRequest(`${name}: expected a whole number from 1 to ${Number.MAX_SAFE_INTEGER}`);
    }
  }
}

/**
 * Checks that a browser's request comes from a page of this service, by `Sec-Fetch-Site` (Fetch Metadata), else by `Origin`
 * (RFC 6454, 7; Fetch standard, 3.1); requests with neither are not from browsers.
 * @param base Base of links for the caller, if known; `Host` has the name that the caller used. @throws {ERR_FOREIGN_PAGE}
 */
export function checkOwnOrigin(headers: HeaderList, base: string): void {
  const site = headers.get("Sec-Fetch-Site");
  if (site === "same-origin") return;
  if (site !== null) throw httpError("ERR_FOREIGN_PAGE", "Sec-Fetch-Site is not same-origin");
  const origin = headers.get("Origin");
  const { origin: own, protocol } = new URL(base);
  if (origin !== null && (origin === own || origin === `${protocol}//${headers.get("Host")}`)) return;
  throw httpError(
    "ERR_FOREIGN_PAGE",
    origin === null ? "neither Sec-Fetch-Site nor Origin" : "another Origin",
  );
}

/**
 * Checks that no page of another site makes a browser send the request with the certificate or password that it adds.
 * Scripts of sites that CORS permits send both headers. @throws {ERR_FOREIGN_PAGE}
 */
export function checkNotCrossSite(headers: HeaderList): void {
  const isForeign = /^(?:cross|same)-site$/.test(headers.get("Sec-Fetch-Site") ?? "");
  if (isForeign && !(headers.has("Origin") && headers.has("Authorization"))) {
    throw httpError("ERR_FOREIGN_PAGE", "Sec-Fetch-Site is another site");
  }
}

interface Origin {
  readonly clientAddress: string; // canonical
  readonly base: string; // without trailing slash
  readonly consignor?: string; // signed name of the client from the gateway
  readonly unusableBase?: string; // base from the gateway; then `base` is the service's own
}

/**
 * Reads the gateway's three headers if a configured gateway sends them. Ignores them from others, and `X-Forwarded-For`
 * and similar headers (rest-api.md 1.6, credentials.md 1.9).
 * @param externalUrl The service's own base address. @throws {ERR_BAD_FORWARDING}
 */
export function originOf(
  { headers, client }: Pick<HttpRequest, "headers" | "client">,
  gateway: GatewayConfig,
  externalUrl: string,
): Origin {
  const direct: Origin = { clientAddress: client.address, base: externalUrl };
  if (
    !gateway.enabled || !gateway.trustedPeers.some((range) => addressInRange(direct.clientAddress, range))
  ) return direct;
  const forwardedAddress = headers.get("X-UNICORE-Consignor-IP");
  const forwardedBase = headers.get("X-UNICORE-Gateway");
  const base = forwardedBase === null ? externalUrl : baseUrl(forwardedBase);
  const consignor = headers.get("X-UNICORE-Consignor");
  return {
    clientAddress: forwardedAddress === null ? direct.clientAddress : oneAddress(forwardedAddress),
    base: base ?? externalUrl,
    consignor: consignor ?? undefined,
    ...(base === undefined && { unusableBase: forwardedBase ?? "" }),
  };
}

/** The gateway writes IPv6 addresses in brackets, as Jetty does. */
function oneAddress(text: string): string {
  const address = peerAddress(text.trim().replace(/^\[([^:\]]*:[^\]]*)\]$/, "$1"));
  if (address === "") throw httpError("ERR_BAD_FORWARDING", "X-UNICORE-Consignor-IP is not one address");
  return address;
}

/** Returns an `https://` base or `undefined`. Strict: clients choose the Host in it. No part of its path begins with a dot. */
function baseUrl(text: string): string | undefined {
  const base = trimEndCharacters(text.trim(), "/");
  const form =
    /^https:\/\/(?:[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(?::\d{1,5})?(?:\/[A-Za-z0-9_~-][A-Za-z0-9._~-]*)*$/;
  return form.test(base) && URL.canParse(base) ? base : undefined;
}
