import type { Authenticator, StepUp } from "./authenticator.ts";
import { SIGNATURE_ALGORITHMS } from "./signed_token.ts";

type Challenge = Authenticator["challenges"][number];

/** Statement about the presented token (RFC 6750, 3; RFC 9449, 7.1; RFC 9470, 3). */
export interface TokenDiagnostic {
  readonly scheme: "Bearer" | "DPoP";
  readonly stepUp?: StepUp | undefined; // present if a new or stronger login is required
  readonly advice?: string | undefined; // what the client can repair
}

interface ChallengeFacts {
  readonly realm: string;
  readonly metadata?: string; // protected resource metadata (RFC 9728, 5.1)
  readonly diagnostic?: TokenDiagnostic;
}

/** Formats `WWW-Authenticate`, with `Bearer` as the fallback. */
export function challengeHeader(facts: ChallengeFacts, challenges: readonly Challenge[]): string {
  const offered = challenges.length === 0 ? ["Bearer" as const] : [...new Set(challenges)];
  return offered.map((challenge) => format(challenge, facts)).join(", ");
}

/** RFC 7617 (with `charset`), RFC 6750, or RFC 9449, 7.1. */
function format(challenge: Challenge, { realm, metadata, diagnostic }: ChallengeFacts): string {
  if (challenge === "Basic") return `Basic realm=${quoted(realm)}, charset="UTF-8"`;
  const parameters = {
    realm,
    ...(challenge === "DPoP" && { algs: SIGNATURE_ALGORITHMS.join(" ") }),
    ...(diagnostic?.scheme === challenge && diagnosticParameters(diagnostic)),
    ...(metadata !== undefined && { resource_metadata: metadata }),
  };
  return `${challenge} ${
    Object.entries(parameters).map(([name, text]) => `${name}=${quoted(text)}`).join(", ")
  }`;
}

function diagnosticParameters({ stepUp, advice }: TokenDiagnostic): Readonly<Record<string, string>> {
  if (stepUp === undefined) return { error: "invalid_token", ...(advice && { error_description: advice }) };
  const { acrValues, maxAge } = stepUp;
  return {
    error: "insufficient_user_authentication",
    error_description: "A newer or stronger login is required",
    ...(acrValues && { acr_values: acrValues.join(" ") }),
    ...(maxAge !== undefined && { max_age: String(maxAge) }),
  };
}

function quoted(text: string): string {
  return `"${text.replace(/[^ -~]/g, "?").replace(/["\\]/g, "\\$&")}"`;
}
