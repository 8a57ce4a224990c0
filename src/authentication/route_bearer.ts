import { Buffer } from "node:buffer";
import type { BearerRoute } from "../model/credentials.ts";

/**
 * Says which kind of method a bearer token is meant for, from its claims alone and before anything is verified
 * (authentication.md 1.5). A token that claims to be issued (`etd`) is `issued` even if its other claims are missing,
 * so that it can fail there and nowhere else.
 *
 * The decoding is lenient on purpose: a token that is nearly one of ours is kept, not sent to somebody else's server.
 */
export function routeBearer(token: string): BearerRoute {
  const claims = readClaims(token);
  if (claims === undefined) return "provider";
  if (isTrue(claims.etd)) return "issued";
  if (typeof claims.sub === "string" && claims.sub === claims.iss) return "ssh-key";
  return "provider";
}

interface RoutingClaims {
  readonly etd?: unknown;
  readonly sub?: unknown;
  readonly iss?: unknown;
}

/** The claims of a text that looks like a signed JWT (three parts, the second a JSON object). */
function readClaims(token: string): RoutingClaims | undefined {
  const [, payload, signature, more] = token.split(".", 4);
  if (payload === undefined || signature === undefined || more !== undefined) return undefined;
  try {
    const claims: unknown = JSON.parse(Buffer.from(payload, "base64url").toString("utf8"));
    return typeof claims === "object" && claims !== null ? claims : undefined;
  } catch {
    return undefined; // not JSON, so no JWT
  }
}

/** Clients send the claim as a boolean or as text, in any case (authentication.md 4.2). */
function isTrue(claim: unknown): boolean {
  return claim === true || (typeof claim === "string" && claim.toLowerCase() === "true");
}
