import type { Clock } from "../model/clock.ts";
import type { Identity } from "../model/identity.ts";

/** User to look up at their source without credentials. */
export interface UserReference {
  readonly dn: string;
  /** Authenticator that identified the user, see {@link userReference}; absent if unknown. */
  readonly via?: string;
  readonly login?: string; // name at the source; absent if unknown, or if only `dn` exists
  readonly uid?: string; // account that the source proved, or that the user had
  readonly credential?: string; // fingerprint of a credential that must still be valid; absent: any
  /** Last confirmation of the login, in seconds since the epoch; absent: no login is involved. */
  readonly proved?: number;
  readonly authTime?: Identity["authTime"];
}

export type AccountStatus =
  | {
    readonly kind: "known";
    /** Servers on which the user still exists; absent: independent of servers. */
    readonly servers?: readonly string[];
  }
  | { readonly kind: "gone" }
  | { readonly kind: "cannot tell" }; // the source cannot look up users without credentials

/** Looks up a user. @throws {ServiceError} On an outage. */
export type AccountLookup = (user: UserReference, signal: AbortSignal) => Promise<AccountStatus>;

/** Source that may look up absent users: an authenticator, or a key of another service. */
export interface UserSource {
  readonly name: string; // as configured, such as `SSHKEY`
  /** Longest lifetime derived from a login, in seconds; absent: while {@link accountStatusOf} confirms the user. */
  readonly derivedLifetime?: number;
  readonly maxAuthAge?: number; // likewise, counted from the login at the provider (`auth_time`)
  accountStatusOf?: AccountLookup; // absent if that needs credentials
}

/** Authenticator for issued tokens. */
export const ISSUED_TOKENS = "ETD";

const GONE: AccountStatus = { kind: "gone" };
const CANNOT_TELL: AccountStatus = { kind: "cannot tell" };

/** Returns the facts to store about a caller, who may have presented a token. */
export function userReference({ dn, via, login, uid, issuedToken }: Identity): UserReference {
  return { dn, via: issuedToken === undefined ? via : issuedToken.identifiedBy, login, uid };
}

/** Returns the facts to store about a login, which derived tokens and shares depend on. */
function loginReference(identity: Identity): UserReference {
  const { credential, issuedToken, authTime } = identity;
  const { proved = issuedToken?.family && issuedToken.family.since / 1000 } = identity;
  return { ...userReference(identity), credential, proved, authTime };
}

/** Returns the latest end of anything derived from a login, in seconds since the epoch, as is `now`. */
export function derivedUntil(authenticators: readonly UserSource[], identity: Identity, now: number): number {
  const login = loginReference(identity);
  return loginUntil(authenticators.find(({ name }) => name === login.via), login, now);
}

/** See {@link derivedUntil}; a login at an unknown time is too old for any `maxAuthAge`. */
function loginUntil(
  { derivedLifetime = Infinity, maxAuthAge = Infinity }: Partial<UserSource> = {},
  { proved, authTime = 0 }: UserReference,
  now: number,
): number {
  return Math.min((proved ?? now) + derivedLifetime, (authTime === "now" ? now : authTime) + maxAuthAge);
}

/** Returns the identity as valid now; `undefined` if the user or {@link IssuedTokenFacts.by} is gone. @throws {ServiceError} On an outage. */
export async function currentIdentity<T extends Identity>(
  identity: T,
  lookUp: AccountLookup,
  signal: AbortSignal,
): Promise<T | undefined> {
  const accountStatus = await lookUp(loginReference(identity), signal);
  const { by: dn, byVia: via, byLogin: login, byUid: uid, family } = identity.issuedToken ?? {};
  const issuer = { login, uid, proved: family && family.since / 1000, authTime: "now" } as const;
  const maker = dn !== undefined && via !== undefined && await lookUp({ dn, via, ...issuer }, signal);
  if (maker && maker.kind === "gone") return undefined;
  if (accountStatus.kind === "gone") return undefined;
  if (accountStatus.kind === "cannot tell" || accountStatus.servers === undefined) return identity;
  const { servers } = accountStatus;
  const { uidServers = servers } = identity;
  return { ...identity, uidServers: uidServers.filter((name) => servers.includes(name)) };
}

/**
 * Reports whether a user still exists at the source; a login is valid for `derivedLifetime` and `maxAuthAge` at most.
 * An authenticator that is no longer configured recognises no users. Without a stored source the user is gone only if
 * all sources say so. @throws {ServiceError} On an outage.
 */
export async function accountStatusOf(
  authenticators: readonly UserSource[],
  user: UserReference,
  signal: AbortSignal,
  clock: Clock = Date.now,
): Promise<AccountStatus> {
  const { via, proved } = user;
  const now = clock() / 1000;
  if (via !== undefined) {
    const authenticator = authenticators.find(({ name }) => name === via);
    if (authenticator === undefined) return GONE;
    if (proved !== undefined && loginUntil(authenticator, user, now) <= now) return GONE;
    return await authenticator.accountStatusOf?.(user, signal) ?? CANNOT_TELL;
  }
  let accountStatus: AccountStatus = GONE;
  let failure: { readonly error: unknown } | undefined;
  for (const authenticator of authenticators) {
    try {
      const status = await authenticator.accountStatusOf?.(user, signal) ?? CANNOT_TELL;
      if (status.kind === "known") return status;
      if (status.kind === "cannot tell") accountStatus = status;
    } catch (error) {
      signal.throwIfAborted();
      failure = { error };
    }
  }
  if (failure !== undefined) throw failure.error;
  return accountStatus;
}
