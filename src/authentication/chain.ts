import type { Logger } from "../logging/logger.ts";
import type { Credentials } from "../model/credentials.ts";
import type { Caller, Identity } from "../model/identity.ts";
import { refuse, type ServiceError } from "../model/service_error.ts";
import type { Authenticator, Verdict } from "./authenticator.ts";
import { challengeHeader } from "./unauthenticated.ts";

/** Everything that decides who is calling. */
export interface AuthenticationChain {
  /** Comes before the methods, and what it refuses no method sees (authentication.md 1.4, step 2). */
  readonly issuedTokens?: Authenticator;
  /** In the configured order. */
  readonly methods: readonly Authenticator[];
  /** Whether a caller without credentials is refused instead of anonymous. */
  readonly failOnMissingCredentials: boolean;
  /** Name of the site, for `WWW-Authenticate`. */
  readonly realm: string;
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
  const nobody = (reason: string) => unauthenticated(chain, reason);
  if (authorization.kind === "malformed") throw nobody(authorization.reason);

  if (chain.issuedTokens !== undefined) {
    const verdict = await askIssuedTokens(chain.issuedTokens, credentials, { log, signal });
    if (verdict.kind === "accepted") return authenticated(verdict.identity);
    if (verdict.kind === "refused") throw nobody(verdict.reason);
  }

  const outcome = await askMethods(chain.methods, credentials, { log, signal });
  if (outcome.accepted !== undefined) return authenticated(withLogin(outcome.accepted, credentials));
  if (outcome.failed.length > 0) throw outOfOrder(outcome.failed, outcome.failure);
  if (outcome.refused) throw nobody("no method accepts the credentials");
  if (authorization.kind !== "none") throw nobody("no method for credentials of this kind");
  if (chain.failOnMissingCredentials) throw nobody("no credentials");
  return { kind: "anonymous" };
}

/** @param methods Names of those that are out of order. */
function outOfOrder(methods: readonly string[], cause: unknown): ServiceError {
  return refuse("ERR_AUTHENTICATION_UNAVAILABLE", `Out of order: ${methods.join(", ")}`, cause);
}

/** The one 401 of a chain, with all its challenges; also for callers who are nobody where somebody is needed. */
export function unauthenticated(
  { methods, issuedTokens, realm }: AuthenticationChain,
  reason: string,
): ServiceError {
  const all = issuedTokens === undefined ? methods : [...methods, issuedTokens];
  const challenge = challengeHeader(realm, all.flatMap((method) => method.challenges));
  return refuse("ERR_UNAUTHENTICATED", { challenge, reason: `Not authenticated: ${reason}` });
}

interface Listening {
  readonly log: Logger;
  readonly signal: AbortSignal;
}

interface Outcome {
  readonly accepted?: Identity;
  /** Whether some method saw credentials of its kind. */
  readonly refused: boolean;
  /** Names of the methods that are out of order, and what the last of them threw. */
  readonly failed: readonly string[];
  readonly failure?: unknown;
}

async function askMethods(
  methods: readonly Authenticator[],
  credentials: Credentials,
  { log, signal }: Listening,
): Promise<Outcome> {
  let refused = false;
  let failure: unknown;
  const failed: string[] = [];
  for (const method of methods) {
    let verdict: Verdict;
    try {
      verdict = await method.authenticate(credentials, signal);
    } catch (error) {
      signal.throwIfAborted();
      log.error("method of authentication out of order", { method: method.name, error });
      failed.push(method.name);
      failure = error;
      continue;
    }
    signal.throwIfAborted();
    if (verdict.kind === "accepted") return { accepted: verdict.identity, refused, failed };
    if (verdict.kind === "refused") {
      log.info("credentials refused", { method: method.name, reason: verdict.reason });
      refused = true;
    }
  }
  return { refused, failed, failure };
}

/** As for a method, but what goes wrong here is not made good by another. */
async function askIssuedTokens(
  issuedTokens: Authenticator,
  credentials: Credentials,
  { log, signal }: Listening,
): Promise<Verdict> {
  try {
    const verdict = await issuedTokens.authenticate(credentials, signal);
    if (verdict.kind === "refused") log.info("issued token refused", { reason: verdict.reason });
    return verdict;
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

function authenticated(identity: Identity): Caller {
  return { kind: "authenticated", identity };
}
