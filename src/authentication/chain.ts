import type { Logger } from "../logging/logger.ts";
import type { Authorization, Credentials } from "../model/credentials.ts";
import type { Caller, Identity } from "../model/identity.ts";
import { HttpError, httpError } from "../model/http_error.ts";
import type { AuthenticationResult, Authenticator, StepUp } from "./authenticator.ts";
import { challengeHeader, type TokenDiagnostic } from "./unauthenticated.ts";

/** Everything that decides who is calling. */
export interface AuthenticationChain {
  /** Comes before the methods, and what it refuses no method sees (authentication.md 1.4, step 2). */
  readonly issuedTokens?: Authenticator;
  /** In the configured order. */
  readonly authenticators: readonly Authenticator[];
  /** Whether a caller without credentials is refused instead of anonymous. */
  readonly failOnMissingCredentials: boolean;
  /** Name of the site, for `WWW-Authenticate`. */
  readonly realm: string;
  /** See {@link ChallengeFacts}. */
  readonly metadata?: string;
}

/** Result of the authenticators for one credential of a request. */
type CredentialResult =
  | { readonly kind: "accepted"; readonly identity: Identity; readonly by: Authenticator }
  /** Wrong; the reason is for the log. */
  | { readonly kind: "refused"; readonly reason: string; readonly stepUp?: StepUp }
  /** No authenticator takes credentials of this kind; the reason is for the log. */
  | { readonly kind: "skipped"; readonly reason: string }
  /** Nobody could say. */
  | { readonly kind: "undecided"; readonly error: HttpError };

/** Results for the credentials of one request. */
interface Authentication {
  /** Result for the `Authorization` header, whatever else the request shows: login throttling counts this. */
  readonly authorization: CredentialResult["kind"];
  /** The caller, or the 401 or 503 that answers the request. */
  readonly caller: Caller | HttpError;
}

/**
 * Judges each credential of a request by itself. A refused or undecided `Authorization` decides, whatever certificate comes
 * with it; of two credentials that are accepted, the configured order decides (authentication.md 1.5). Credentials of a kind
 * that no authenticator handles are refused: only a caller who shows none is anonymous.
 * @throws The signal's reason, if the caller has gone.
 */
export async function authenticate(
  chain: AuthenticationChain,
  credentials: Credentials,
  listening: Listening,
): Promise<Authentication> {
  const { authenticators } = chain;
  const shown = await judgeAuthorization(chain, credentials, listening);
  const decides = shown.kind === "refused" || shown.kind === "undecided";
  const last = shown.kind === "accepted" ? Math.max(0, authenticators.indexOf(shown.by)) : Infinity;
  const earlier = authenticators.slice(0, decides ? 0 : last).filter((authenticator) =>
    authenticator.looksAtCertificates
  );
  const certificate = await judge(earlier, { ...credentials, authorization: { kind: "none" } }, listening);
  const isLeft = shown.kind === "skipped" && certificate.kind !== "skipped";
  const deciding = isLeft || certificate.kind === "accepted" ? certificate : shown;
  return { authorization: shown.kind, caller: callerOf(chain, deciding, credentials.authorization) };
}

function callerOf(
  chain: AuthenticationChain,
  result: CredentialResult,
  authorization: Authorization,
): Caller | HttpError {
  if (result.kind === "accepted") return { kind: "authenticated", identity: result.identity };
  if (result.kind === "undecided") return result.error;
  if (result.kind === "refused") {
    return unauthenticated(chain, result.reason, diagnosticOf(authorization, result.stepUp));
  }
  if (authorization.kind !== "none") {
    return unauthenticated(chain, result.reason, diagnosticOf(authorization));
  }
  return chain.failOnMissingCredentials ? unauthenticated(chain, "no credentials") : { kind: "anonymous" };
}

/** Judges the `Authorization` header. What the check of issued tokens refuses, no other authenticator sees (1.4, step 2). */
async function judgeAuthorization(
  { issuedTokens, authenticators }: AuthenticationChain,
  credentials: Credentials,
  listening: Listening,
): Promise<CredentialResult> {
  const { authorization } = credentials;
  if (authorization.kind === "malformed") return { kind: "refused", reason: authorization.reason };
  if (authorization.kind === "none") return { kind: "skipped", reason: "no credentials" };
  const issued = await judge(issuedTokens === undefined ? [] : [issuedTokens], credentials, listening);
  if (issued.kind !== "skipped") return issued;
  const others = authenticators.filter(({ looksAtCertificates }) => looksAtCertificates !== true);
  return await judge(concerned(others, credentials), credentials, listening);
}

/**
 * Asks authenticators about one credential, in order: the first to accept decides, a refusal does not end the search.
 * Where some refuse and another is out of order, a password counts as refused, as it would without the other: else an
 * outage, which a caller can cause, would make guesses free. Tokens and keys cannot be guessed; they are undecided then.
 */
async function judge(
  authenticators: readonly Authenticator[],
  credentials: Credentials,
  { log, signal }: Listening,
): Promise<CredentialResult> {
  let refused: Extract<CredentialResult, { kind: "refused" }> | undefined;
  const skipped: string[] = [];
  const failed: string[] = [];
  let failure: unknown;
  for (const authenticator of authenticators) {
    let result: AuthenticationResult;
    try {
      result = await authenticator.authenticate(credentials, signal);
    } catch (error) {
      signal.throwIfAborted();
      log.error("method of authentication out of order", { authenticator: authenticator.name, error });
      failed.push(authenticator.name);
      failure = error;
      continue;
    }
    signal.throwIfAborted();
    if (result.kind === "accepted") {
      return { kind: "accepted", identity: completed(result.identity, credentials), by: authenticator };
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
    };
  }
  const isGuessable = credentials.authorization.kind === "basic";
  if (refused !== undefined && (isGuessable || failed.length === 0)) return refused;
  if (failed.length > 0) return { kind: "undecided", error: outOfOrder(failed, failure) };
  return { kind: "skipped", reason: ["no method for credentials of this kind", ...skipped].join("; ") };
}

/** Seconds after which it may be worth while to ask again: what the system said, or has been given. */
function retryAfter(cause: unknown): number {
  const said = cause instanceof HttpError ? Number(cause.headers["Retry-After"]) : NaN;
  return said > 0 ? said : 5;
}

/** @param authenticators Names of those that are out of order. */
function outOfOrder(authenticators: readonly string[], cause: unknown): HttpError {
  const reason = `Out of order: ${authenticators.join(", ")}`;
  return httpError("ERR_AUTHENTICATION_UNAVAILABLE", { seconds: retryAfter(cause), reason }, cause);
}

/** Value of `WWW-Authenticate` for a chain: all ways that it knows. @param diagnostic Of the token that was shown. */
export function challengeOf(
  { authenticators, issuedTokens, realm, metadata }: AuthenticationChain,
  diagnostic?: TokenDiagnostic,
): string {
  const all = issuedTokens === undefined ? authenticators : [...authenticators, issuedTokens];
  return challengeHeader(
    { realm, metadata, diagnostic },
    all.flatMap((authenticator) => authenticator.challenges),
  );
}

/** The one 401 of a chain, with all its challenges; also for callers who are nobody where somebody is needed. */
export function unauthenticated(
  chain: AuthenticationChain,
  reason: string,
  diagnostic?: TokenDiagnostic,
): HttpError {
  const challenge = challengeOf(chain, diagnostic);
  return httpError("ERR_UNAUTHENTICATED", { challenge, reason: `Not authenticated: ${reason}` });
}

/** What is said of a token, if one was shown. */
function diagnosticOf(authorization: Authorization, stepUp?: StepUp): TokenDiagnostic | undefined {
  if (authorization.kind !== "bearer") return undefined;
  return { scheme: authorization.scheme ?? "Bearer", stepUp };
}

interface Listening {
  readonly log: Logger;
  readonly signal: AbortSignal;
}

/** The methods that may see the credentials: a token of an issuer whom some of them know is shown to nobody else. */
function concerned(
  authenticators: readonly Authenticator[],
  { authorization }: Credentials,
): readonly Authenticator[] {
  if (authorization.kind !== "bearer" || authorization.issuer === undefined) return authenticators;
  const ofIssuer = authenticators.filter(({ issuer }) => issuer?.url === authorization.issuer);
  return ofIssuer.length === 0 ? authenticators : ofIssuer;
}

/**
 * Adds what the credential itself says: a name that was typed, by which a ban of it finds tokens too, and that the login is
 * now. Tokens stand for an earlier login, of which their authenticator knows.
 */
function completed(identity: Identity, { authorization }: Credentials): Identity {
  const typed = authorization.kind === "basic" ? authorization.user : undefined;
  const isOfBefore = authorization.kind === "bearer";
  return { ...identity, login: identity.login ?? typed, authTime: isOfBefore ? identity.authTime : "now" };
}
