import { Buffer } from "node:buffer";
import { hash } from "node:crypto";
import type { BearerRoute } from "../model/credentials.ts";

/** What a bearer token says of itself; nothing of it is verified. */
interface BearerClaims {
  /** Which kind of method it is meant for. */
  readonly route: BearerRoute;
  /** Whom it claims to be issued by, if that is a text. */
  readonly issuer?: string;
  /**
   * Whose it is: a digest of issuer and subject, so that it stays the same for a user who shows a new token each time; of
   * the token where it does not tell.
   */
  readonly claimant: string;
  /** Its claim `sub`, unless that is longer than names are. */
  readonly subject?: string;
}

/** Most characters of a subject that is told: long enough for distinguished names. */
const MAX_SUBJECT = 1024;

/** Reads what a bearer token says of itself; never fails. */
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
 * Which kind of method a bearer token is meant for, from its claims alone (authentication.md 1.5). A token that claims to
 * be issued (`etd`) is `issued` even if its other claims are missing, so that it can fail there and nowhere else.
 *
 * The decoding is lenient on purpose: a token that is nearly one of ours is kept, not sent to somebody else's server.
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
