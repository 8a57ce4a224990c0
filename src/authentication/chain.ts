import type { Logger } from "../logging/logger.ts";
import type { Authorization, Credentials } from "../model/credentials.ts";
import type { Caller, Identity } from "../model/identity.ts";
import { HttpError, httpError, isHttpError } from "../model/http_error.ts";
import type { AuthenticationResult, Authenticator, StepUp } from "./authenticator.ts";
import { acceptedLogins } from "./accepted_logins.ts";
import { SIGNATURE_ALGORITHMS } from "./signed_token.ts";

export interface AuthenticationChain {
  /** Runs first; no other authenticator sees the tokens that it refuses (credentials.md 1.4, step 2). */
  readonly issuedTokens?: Authenticator;
  readonly authenticators: readonly Authenticator[];
  readonly failOnMissingCredentials: boolean; // whether missing credentials are refused instead of anonymous
  readonly realm: string; // for `WWW-Authenticate`
  readonly metadata?: string;
}

type CredentialResult =
  | { readonly kind: "accepted"; readonly identity: Identity; readonly by: Authenticator }
  | Extract<AuthenticationResult, { readonly kind: "refused" }>
  /** No authenticator accepts this kind of credentials; the reason is for the log. */
  | { readonly kind: "skipped"; readonly reason: string }
  | { readonly kind: "undecided"; readonly error: HttpError }; // outage

const NO_METHOD = { kind: "skipped", reason: "no method for credentials of this kind" } as const;

/**
 * Checks each credential separately; returns the result for `Authorization` alone, which login throttling counts, and the
 * caller, or the 401 or 503 response. An `Authorization` that nobody accepts decides despite a certificate, also if no
 * authenticator takes its kind; between two accepted credentials the configured order decides (credentials.md 1.5).
 */
export async function authenticate(
  chain: AuthenticationChain,
  credentials: Credentials,
  context: ChainContext,
) {
  const { authenticators } = chain;
  const presented = await evaluateAuthorization(chain, credentials, context);
  const isAbsent = credentials.authorization.kind === "none";
  const own = presented.kind === "accepted" ? authenticators.indexOf(presented.by) : -1;
  const last = isAbsent ? Infinity : Math.max(0, own);
  const earlier = authenticators.slice(0, last).filter((authenticator) => authenticator.acceptsCertificates);
  const certificate = earlier.length === 0
    ? NO_METHOD
    : await evaluate(earlier, { ...credentials, authorization: { kind: "none" } }, context);
  const deciding = isAbsent || certificate.kind === "accepted" ? certificate : presented;
  const authorization = meaningOf(presented, chain, credentials);
  return { authorization, caller: callerOf(chain, deciding, credentials.authorization) };
}

/**
 * Returns what a result means for login throttling. After a success, earlier failures of the name may still be guesses at
 * the password of a namesake: `undecided` where there is one, `ambiguous` where an authenticator cannot tell.
 */
function meaningOf(
  presented: CredentialResult,
  { authenticators }: AuthenticationChain,
  { authorization }: Credentials,
): CredentialResult["kind"] | "ambiguous" {
  if (presented.kind !== "accepted" || authorization.kind !== "basic") return presented.kind;
  let meaning: "accepted" | "ambiguous" = "accepted";
  for (const other of authenticators) {
    if (!other.challenges.includes("Basic")) continue;
    const isOwn = other === presented.by;
    const isListed = other.lists?.(authorization.user, isOwn);
    if (isListed) return "undecided";
    if (isListed === undefined && !isOwn) meaning = "ambiguous";
  }
  return meaning;
}

function callerOf(
  chain: AuthenticationChain,
  result: CredentialResult,
  authorization: Authorization,
): Caller | HttpError {
  if (result.kind === "accepted") return { kind: "authenticated", identity: result.identity };
  if (result.kind === "undecided") return result.error;
  if (result.kind === "refused" || authorization.kind !== "none") {
    const facts = result.kind === "refused" ? result : {};
    return unauthenticated(chain, result.reason, diagnosticOf(authorization, facts));
  }
  return chain.failOnMissingCredentials ? unauthenticated(chain, "no credentials") : { kind: "anonymous" };
}

/** Checks `Authorization`. Refused issued tokens reach no other authenticator (1.4, step 2). */
async function evaluateAuthorization(
  { issuedTokens, authenticators }: AuthenticationChain,
  credentials: Credentials,
  context: ChainContext,
): Promise<CredentialResult> {
  const { authorization } = credentials;
  if (authorization.kind === "malformed") return { kind: "refused", reason: authorization.reason };
  if (authorization.kind === "none") return { kind: "skipped", reason: "no credentials" };
  if (issuedTokens !== undefined && authorization.kind === "bearer") {
    const issued = await evaluate([issuedTokens], credentials, context);
    if (issued.kind !== "skipped") return issued;
  }
  const others = authenticators.filter(({ acceptsCertificates }) => acceptsCertificates !== true);
  return await evaluate(applicable(others, credentials), credentials, context);
}

/**
 * Asks authenticators until one accepts. A password that one refuses while another is down counts as refused:
 * otherwise callers could cause outages to guess for free. Tokens and keys cannot be guessed: undecided.
 *
 * | Authenticators besides those that skip | Password    | Others    | Answer             | Throttle counts   |
 * | -------------------------------------- | ----------- | --------- | ------------------ | ----------------- |
 * | one accepts                            | accepted    | accepted  | of the resource    | {@link meaningOf} |
 * | some refuse                            | refused     | refused   | 401                | a failure         |
 * | some refuse, some are out of order     | refused     | undecided | 401, 503           | a failure, none   |
 * | some are out of order                  | undecided   | undecided | 503                | none              |
 * | none                                   | skipped     | skipped   | 401, or anonymous  | none              |
 */
async function evaluate(
  authenticators: readonly Authenticator[],
  credentials: Credentials,
  { log, signal, onResult }: ChainContext,
): Promise<CredentialResult> {
  let refused: Extract<CredentialResult, { kind: "refused" }> | undefined;
  const skipped: string[] = [];
  const failed: string[] = [];
  let failure: unknown;
  for (const authenticator of authenticators) {
    let result: AuthenticationResult;
    try {
      result = await authenticator.authenticate(credentials, signal);
      onResult?.(authenticator.name, result);
    } catch (error) {
      signal.throwIfAborted();
      onResult?.(authenticator.name, { kind: "failed", error });
      const level = isHttpError(error, "ERR_TOO_MUCH_WORK") ? "warn" : "error"; // unknown clients can make it busy
      log[level]("method of authentication out of order", { authenticator: authenticator.name, error });
      failed.push(authenticator.name);
      failure = error;
      continue;
    }
    signal.throwIfAborted();
    if (result.kind === "accepted") {
      return { kind: "accepted", identity: withLoginFacts(result.identity, credentials), by: authenticator };
    }
    if (result.kind === "skipped") {
      if (result.reason !== undefined) skipped.push(`${authenticator.name}: ${result.reason}`);
      continue;
    }
    log.info("credentials refused", { authenticator: authenticator.name, reason: result.reason });
    refused = {
      kind: "refused",
      reason: "no method accepts the credentials",
      stepUp: result.stepUp ?? refused?.stepUp,
      advice: result.advice ?? refused?.advice,
    };
  }
  const isGuessable = credentials.authorization.kind === "basic";
  if (refused !== undefined && (isGuessable || failed.length === 0)) return refused;
  if (failed.length > 0) {
    const retryAfter = failure instanceof HttpError ? Number(failure.headers["Retry-After"]) : NaN;
    const facts = { seconds: retryAfter > 0 ? retryAfter : 5, reason: `Out of order: ${failed.join(", ")}` };
    return { kind: "undecided", error: httpError("ERR_AUTHENTICATION_UNAVAILABLE", facts, failure) };
  }
  return { kind: "skipped", reason: [NO_METHOD.reason, ...skipped].join("; ") };
}

/** Returns `WWW-Authenticate` with all schemes, or `Bearer`. @param diagnostic About the presented token. */
export function challengeOf(chain: AuthenticationChain, diagnostic?: TokenDiagnostic): string {
  const { authenticators, issuedTokens } = chain;
  const all = issuedTokens === undefined ? authenticators : [...authenticators, issuedTokens];
  const challenges = new Set(all.flatMap((authenticator) => authenticator.challenges));
  if (challenges.size === 0) challenges.add("Bearer");
  return [...challenges].map((challenge) => challengeText(challenge, chain, diagnostic)).join(", ");
}

/** Returns the 401 with all challenges. */
export function unauthenticated(
  chain: AuthenticationChain,
  reason: string,
  diagnostic?: TokenDiagnostic,
): HttpError {
  const challenge = challengeOf(chain, diagnostic);
  const accepted = acceptedLogins(chain).map(({ words }) => words).join(", ");
  return httpError("ERR_UNAUTHENTICATED", { challenge, accepted, reason: `Not authenticated: ${reason}` });
}

function diagnosticOf(
  authorization: Authorization,
  { stepUp, advice }: Pick<TokenDiagnostic, "stepUp" | "advice">,
): TokenDiagnostic | undefined {
  if (authorization.kind !== "bearer") return undefined;
  return { scheme: authorization.scheme ?? "Bearer", stepUp, advice };
}

/** Callback for the result or outage of each authenticator. */
export type ResultListener = (
  authenticator: string,
  result: AuthenticationResult | { readonly kind: "failed"; readonly error: unknown },
) => void;

interface ChainContext {
  readonly log: Logger;
  readonly signal: AbortSignal;
  readonly onResult?: ResultListener;
}

/** Selects authenticators for the credentials: tokens of a known issuer go to its authenticators only. */
export function applicable(
  authenticators: readonly Authenticator[],
  { authorization }: Pick<Credentials, "authorization">,
): readonly Authenticator[] {
  if (authorization.kind !== "bearer" || authorization.issuer === undefined) return authenticators;
  const ofIssuer = authenticators.filter(({ issuer }) => issuer?.url === authorization.issuer);
  return ofIssuer.length === 0 ? authenticators : ofIssuer;
}

/** Adds the typed name, so that bans match tokens too, and the login time, which tokens contain. */
function withLoginFacts(identity: Identity, { authorization }: Credentials): Identity {
  const typed = authorization.kind === "basic" ? authorization.user : undefined;
  const isReused = authorization.kind === "bearer";
  return { ...identity, login: identity.login ?? typed, authTime: isReused ? identity.authTime : "now" };
}

/** Statement about the presented token (RFC 6750, 3; RFC 9449, 7.1; RFC 9470, 3). */
interface TokenDiagnostic {
  readonly scheme: "Bearer" | "DPoP";
  readonly stepUp?: StepUp | undefined; // present if a new or stronger login is required
  readonly advice?: string | undefined; // what the client can repair
}

/** Formats a challenge by RFC 7617 (with `charset`), RFC 6750, or RFC 9449, 7.1. */
function challengeText(
  challenge: Authenticator["challenges"][number],
  { realm, metadata }: AuthenticationChain,
  diagnostic: TokenDiagnostic | undefined,
): string {
  if (challenge === "Basic") return `Basic realm=${quoted(realm)}, charset="UTF-8"`;
  const parameters = {
    realm,
    ...(challenge === "DPoP" && { algs: SIGNATURE_ALGORITHMS.join(" ") }),
    ...(diagnostic?.scheme === challenge && diagnosticParameters(diagnostic)),
    ...(metadata !== undefined && { resource_metadata: metadata }),
  };
  const pairs = Object.entries(parameters).map(([name, text]) => `${name}=${quoted(text)}`);
  return `${challenge} ${pairs.join(", ")}`;
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
