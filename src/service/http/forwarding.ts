import type { GatewayConfig } from "../../config/service_config.ts";
import { addressInRange, canonicalAddress } from "../../model/address.ts";
import type { HttpRequest } from "../../model/http_message.ts";
import { httpError } from "../../model/http_error.ts";
import { trimEndCharacters } from "../../model/text.ts";

/** Client address and the service's address as the client knows it. */
interface Origin {
  readonly clientAddress: string; // canonical
  readonly base: string; // without trailing slash
  readonly consignor?: string; // signed name of the client from the gateway
}

/**
 * Reads the gateway's three headers if they come from a configured gateway. Ignores others', and `X-Forwarded-For` and
 * similar headers (rest-api.md 1.6, authentication.md 1.9).
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
  const consignor = headers.get("X-UNICORE-Consignor");
  return {
    clientAddress: forwardedAddress === null ? direct.clientAddress : oneAddress(forwardedAddress),
    base: forwardedBase === null ? direct.base : baseUrl(forwardedBase),
    consignor: consignor ?? undefined,
  };
}

function oneAddress(text: string): string {
  const address = canonicalAddress(text.trim());
  if (address === undefined) {
    throw httpError("ERR_BAD_FORWARDING", "X-UNICORE-Consignor-IP is not one address");
  }
  return address;
}

/** Strict: the gateway builds it from its client's Host header. */
function baseUrl(text: string): string {
  const base = trimEndCharacters(text.trim(), "/");
  if (!/^https:\/\/(?:[A-Za-z0-9.-]+|\[[0-9A-Fa-f:.]+\])(?::\d{1,5})?(?:\/[A-Za-z0-9._~-]+)*$/.test(base)) {
    throw httpError("ERR_BAD_FORWARDING", "X-UNICORE-Gateway is not a base address");
  }
  return base;
}
