import type { Logger } from "../logging/logger.ts";
import type { Authorization, Credentials } from "../model/credentials.ts";
import type { Caller, Identity } from "../model/identity.ts";
import { httpError, HttpError } from "../model/http_error.ts";
import type { Authenticator, StepUp, AuthenticationResult } from "./authenticator.ts";
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

/**
 * Asks the methods in order; the first to accept decides, a refusal does not end the search (authentication.md 1.5).
 * Credentials of a kind that no method handles are refused: only a caller who shows none is anonymous.
 * @throws {ERR_UNAUTHENTICATED} 401, whatever the cause.
 * @throws {ERR_AUTHENTICATION_UNAVAILABLE} 503, if a method is out of order that might have accepted, and none did.
 * @throws The signal's reason, if the caller has gone.
 */
export async function authenticate(
  chain: AuthenticationChain,
  credentials: Credentials,
  { log, signal }: { log: Logger; signal: AbortSignal },
): Promise<Caller> {
  const { authorization } = credentials;
  const nobody = (reason: string, stepUp?: StepUp) =>
    unauthenticated(chain, reason, diagnosticOf(authorization, stepUp));
  if (authorization.kind === "malformed") throw nobody(authorization.reason);

  if (chain.issuedTokens !== undefined) {
    const result = await askIssuedTokens(chain.issuedTokens, credentials, { log, signal });
    if (result.kind === "accepted") return authenticated(result.identity);
    if (result.kind === "refused") throw nobody(result.reason);
  }

  const outcome = await askAuthenticators(chain.authenticators, credentials, { log, signal });
  if (outcome.accepted !== undefined) {
    return authenticated(withAuthTime(withLogin(outcome.accepted, credentials), credentials));
  }
  if (outcome.failed.length > 0) throw outOfOrder(outcome.failed, outcome.failure);
  if (outcome.refused) throw nobody("no method accepts the credentials", outcome.stepUp);
  if (authorization.kind !== "none") {
    throw nobody(["no method for credentials of this kind", ...outcome.skipped].join("; "));
  }
  if (chain.failOnMissingCredentials) throw nobody("no credentials");
  return { kind: "anonymous" };
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
  return challengeHeader({ realm, metadata, diagnostic }, all.flatMap((authenticator) => authenticator.challenges));
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
function diagnosticOf(authorization: Authorization, stepUp: StepUp | undefined): TokenDiagnostic | undefined {
  if (authorization.kind !== "bearer") return undefined;
  return { scheme: authorization.scheme ?? "Bearer", stepUp };
}

interface Listening {
  readonly log: Logger;
  readonly signal: AbortSignal;
}

interface Outcome {
  readonly accepted?: Identity;
  /** Whether some method saw credentials of its kind. */
  readonly refused: boolean;
  /** By what other login one of these methods would have accepted. */
  readonly stepUp?: StepUp;
  /** Why methods did not look at the credentials, where that needs a word. */
  readonly skipped: readonly string[];
  /** Names of the methods that are out of order, and what the last of them threw. */
  readonly failed: readonly string[];
  readonly failure?: unknown;
}

async function askAuthenticators(
  authenticators: readonly Authenticator[],
  credentials: Credentials,
  { log, signal }: Listening,
): Promise<Outcome> {
  let refused = false;
  let stepUp: StepUp | undefined;
  let failure: unknown;
  const failed: string[] = [];
  const skipped: string[] = [];
  for (const authenticator of concerned(authenticators, credentials)) {
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
    if (result.kind === "accepted") return { accepted: result.identity, refused, failed, skipped };
    if (result.kind === "skipped" && result.reason !== undefined) {
      skipped.push(`${authenticator.name}: ${result.reason}`);
    }
    if (result.kind === "refused") {
      log.info("credentials refused", { authenticator: authenticator.name, reason: result.reason });
      refused = true;
      stepUp = result.stepUp ?? stepUp;
    }
  }
  return { refused, failed, failure, skipped, stepUp };
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

/** As for a method, but what goes wrong here is not made good by another. */
async function askIssuedTokens(
  issuedTokens: Authenticator,
  credentials: Credentials,
  { log, signal }: Listening,
): Promise<AuthenticationResult> {
  try {
    const result = await issuedTokens.authenticate(credentials, signal);
    if (result.kind === "refused") log.info("issued token refused", { reason: result.reason });
    return result;
  } catch (error) {
    signal.throwIfAborted();
    log.error("check of issued tokens out of order", { error });
    throw outOfOrder([issuedTokens.name], error);
  }
}

/** Whoever typed a name is known by it, whatever the method: so a ban of that name finds their tokens too. */
function withLogin(identity: Identity, { authorization }: Credentials): Identity {
  if (identity.login !== undefined || authorization.kind !== "basic") return identity;
  return { ...identity, login: authorization.user };
}

/** Whoever shows what they know or have logs in now; tokens of providers stand for a login of before. */
function withAuthTime(identity: Identity, { authorization }: Credentials): Identity {
  const isOfBefore = authorization.kind === "bearer" && authorization.route !== "ssh-key";
  return isOfBefore ? identity : { ...identity, authTime: "now" };
}

function authenticated(identity: Identity): Caller {
  return { kind: "authenticated", identity };
}
