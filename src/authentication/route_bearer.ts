import { Buffer } from "node:buffer";
import { hash } from "node:crypto";
import type { BearerRoute } from "../model/credentials.ts";

interface BearerClaims {
  readonly route: BearerRoute; // kind of authenticator that it is for
  readonly issuer?: string; // `iss`, if a text
  /** Digest of issuer and subject, so that a user's new tokens have the same; otherwise of the token. */
  readonly claimant: string;
  readonly subject?: string; // `sub`, unless too long
}

const MAX_SUBJECT = 1024; // characters, enough for distinguished names

/** Reads the statements of a bearer token; never throws. */
export function readBearer(token: string): BearerClaims {
  const claims = readClaims(token);
  const route = claims === undefined ? "provider" : routeOf(claims);
  const subject = typeof claims?.sub === "string" ? claims.sub : undefined;
  const whose = subject === undefined ? token : JSON.stringify([route, claims?.iss, subject]);
  return {
    route,
    issuer: typeof claims?.iss === "string" ? claims.iss : undefined,
    claimant: hash("sha256", whose, "base64url"),
    subject: subject && subject.length <= MAX_SUBJECT ? subject : undefined,
  };
}

/**
 * Returns the kind of authenticator for a token (authentication.md 1.5). Decoding is lenient, so that a
 * nearly valid issued token never reaches another server.
 */
function routeOf(claims: RoutingClaims): BearerRoute {
  if (isTrue(claims.etd)) return "issued";
  if (typeof claims.sub === "string" && claims.sub === claims.iss) return "ssh-key";
  return "provider";
}

interface RoutingClaims {
  readonly etd?: unknown;
  readonly sub?: unknown;
  readonly iss?: unknown;
}

function readClaims(token: string): RoutingClaims | undefined {
  const [, payload, signature, more] = token.split(".", 4);
  if (payload === undefined || signature === undefined || more !== undefined) return undefined;
  try {
    const claims: unknown = JSON.parse(Buffer.from(payload, "base64url").toString("utf8"));
    return typeof claims === "object" && claims !== null ? claims : undefined;
  } catch {
    return undefined; // no JWT
  }
}

/** Clients send booleans or texts in any case (authentication.md 4.2). */
function isTrue(claim: unknown): boolean {
  return claim === true || (typeof claim === "string" && claim.toLowerCase() === "true");
}
