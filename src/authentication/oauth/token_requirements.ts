import type { StepUp } from "../authenticator.ts";
import { type Said, textsOf } from "../claims.ts";

/** What a token must be made for, and how its user must have logged in. Empty lists require nothing. */
interface TokenRequirements {
  /** One of them must be in `aud` (RFC 7519, 4.1.3). */
  readonly requiredAudience: readonly string[];
  /** `client_id` (RFC 7662; RFC 9068), `azp` and `appid` must be one of them; of several that are there, each. */
  readonly requiredClient: readonly string[];
  /** All of them must be among the words of `scope` or `scp`. */
  readonly requiredScope: readonly string[];
  /** `acr` must be one of them (OIDC Core 1.0, 2). */
  readonly requiredAcr: readonly string[];
  /** Seconds since `auth_time`, at most. */
  readonly maxAuthAge: number | undefined;
  /** Whether `email_verified` must be true. */
  readonly emailVerified: boolean;
}

/** What is missing. */
interface Unmet {
  /** For the log. */
  readonly reason: string;
  /** Present if another login would do. */
  readonly stepUp?: StepUp;
}

/** By how many seconds the provider's clock may be ahead. */
const CLOCK_TOLERANCE = 60;

/**
 * Checks what a token was made for, and how its user logged in.
 * @param said What the provider's answer says, else the token; both are believed by now.
 * @param now Milliseconds since the epoch.
 * @returns What is missing; `undefined` if nothing is.
 */
export function unmetRequirement(required: TokenRequirements, said: Said, now: number): Unmet | undefined {
  const { requiredAudience, requiredClient, requiredScope } = required;
  const audiences = textsOf(said("aud"));
  if (requiredAudience.length > 0 && audiences.length === 0) {
    return { reason: unsaid("requiredAudience", "aud") };
  }
  if (requiredAudience.length > 0 && !audiences.some((one) => requiredAudience.includes(one))) {
    return { reason: "the token is not for the required audience" };
  }
  if (requiredClient.length > 0) {
    const clients = ["client_id", "azp", "appid"].flatMap((name) => textsOf(said(name)));
    if (clients.length === 0) return { reason: unsaid("requiredClient", "client_id, azp") };
    if (!clients.every((client) => requiredClient.includes(client))) {
      return { reason: "the token was not made for the required client" };
    }
  }
  if (requiredScope.length > 0 && !new Set(requiredScope).isSubsetOf(new Set(scopesOf(said)))) {
    return { reason: "the token has not the required scope" };
  }
  if (required.emailVerified && said("email_verified") !== "true") {
    return { reason: "the e-mail address is not verified (email_verified)" };
  }
  return weakLogin(required, said, now);
}

/** Why a token is refused of which nobody says for whom it is, as userinfo endpoints do not. */
function unsaid(key: string, claims: string): string {
  return `nothing says for whom the token was made (${claims}), which ${key} asks for: userinfo endpoints seldom do, ` +
    "introspection does (validate=true)";
}

/** The words of `scope` (RFC 9068, 2.2.3) and `scp`, which are texts or lists. */
export function scopesOf(said: Said): readonly string[] {
  return ["scope", "scp"].flatMap((name) => textsOf(said(name))).flatMap((words) => words.split(" "))
    .filter((word) => word !== "");
}

/** RFC 9470, 3 and 6.2. */
function weakLogin(
  { requiredAcr, maxAuthAge }: TokenRequirements,
  said: Said,
  now: number,
): Unmet | undefined {
  const stepUp: StepUp = { acrValues: requiredAcr.length > 0 ? requiredAcr : undefined, maxAge: maxAuthAge };
  const [acr = "", other] = textsOf(said("acr"));
  if (requiredAcr.length > 0 && (other !== undefined || !requiredAcr.includes(acr))) {
    return { reason: "the user has not logged in by the required class (acr)", stepUp };
  }
  if (maxAuthAge === undefined) return undefined;
  const age = now / 1000 - secondsOf(said("auth_time"));
  return age <= maxAuthAge && age >= -CLOCK_TOLERANCE
    ? undefined
    : { reason: "the login is too long ago, or not known when (auth_time)", stepUp };
}

/** A moment as providers write it; one that cannot be read is long ago. */
export function secondsOf(said: unknown): number {
  return typeof said === "string" && /^[0-9]{1,15}(?:\.[0-9]{1,9})?$/.test(said) ? Number(said) : 0;
}
