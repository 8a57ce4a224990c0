import type { Clock } from "../model/clock.ts";
import type { Identity } from "../model/identity.ts";

/** What is remembered of a user, so that the source that named them can be asked about them when they are away. */
export interface NamedUser {
  readonly dn: string;
  /** Name of the configured method that named them, see {@link namedUser}; absent if that was not remembered. */
  readonly via?: string;
  /** Name by which the source knows them; absent if it was not remembered, or they have none but `dn`. */
  readonly login?: string;
  /** Account that the source proved, or that the user had. */
  readonly uid?: string;
  /** Fingerprint of the credential that must still be theirs; absent: any will do. */
  readonly credential?: string;
  /** When the source last vouched for the login in question, in seconds since the epoch; absent: it is about no login. */
  readonly proved?: number;
}

/** What a source says about a user it once named. */
export type AccountStatus =
  | {
    readonly kind: "known";
    /** Logical servers on which the user still is; absent if that is no matter of servers. */
    readonly servers?: readonly string[];
  }
  | { readonly kind: "gone" }
  /** The source knows its users by their credentials alone. */
  | { readonly kind: "cannot tell" };

/** What may know users while they are away: a method of authentication. */
interface UserSource {
  /** As configured. */
  readonly name: string;
  /** Longest time that anything derived from a login by it may last, in seconds; absent: as long as the source knows the user. */
  readonly derivedLifetime?: number;
  /** Absent: it knows its users by their credentials alone. @throws {ServiceError} If it is out of order. */
  accountStatusOf?(user: NamedUser, signal: AbortSignal): Promise<AccountStatus>;
}

/** Asks about a user. @throws {ServiceError} If the source could tell, but is out of order. */
export type AskAccountStatus = (user: NamedUser, signal: AbortSignal) => Promise<AccountStatus>;

/** Name of the method for tokens that a service has issued; whom another service named, it alone knows. */
export const ISSUED_TOKENS = "ETD";

const GONE: AccountStatus = { kind: "gone" };
const CANNOT_TELL: AccountStatus = { kind: "cannot tell" };

/** What to remember of a caller, who may have shown a token instead of what they were named by. */
export function namedUser({ dn, via, login, uid, issuedToken }: Identity): NamedUser {
  const source = issuedToken === undefined ? via : issuedToken.namedBy;
  return {
    dn,
    via: source,
    login,
    uid,
  };
}

/** What to remember of a login, so that what was derived from it can be held against its source. */
function namedLogin(identity: Identity): NamedUser {
  const { credential, issuedToken, proved = issuedToken?.family && issuedToken.family.since / 1000 } =
    identity;
  return { ...namedUser(identity), credential, proved };
}

/** Returns until when what is derived from a login now may last at most, in seconds since the epoch. @param now In seconds. */
export function derivedUntil(authenticators: readonly UserSource[], identity: Identity, now: number): number {
  const { via, proved = now } = namedLogin(identity);
  return proved + (authenticators.find(({ name }) => name === via)?.derivedLifetime ?? Infinity);
}

/**
 * The identity with what is left of it today; `undefined` if its user is gone.
 * @throws {ServiceError} What the source throws that named them.
 */
export async function whatIsLeft<T extends Identity>(
  identity: T,
  ask: AskAccountStatus,
  signal: AbortSignal,
): Promise<T | undefined> {
  const accountStatus = await ask(namedLogin(identity), signal);
  if (accountStatus.kind === "gone") return undefined;
  if (accountStatus.kind === "cannot tell" || accountStatus.servers === undefined) return identity;
  const { servers } = accountStatus;
  const { uidServers = servers } = identity;
  return { ...identity, uidServers: uidServers.filter((name) => servers.includes(name)) };
}

/**
 * Whether a user still exists in the source that named them, as it would say within its cache time.
 *
 * A method that is configured no longer knows nobody, and it knows a login no longer than its `derivedLifetime`. Where it was not remembered who named the user, one that knows them
 * is enough, and they are gone only if each of the methods says so.
 * @throws {ServiceError} What the source throws that could tell, but is out of order.
 */
export async function accountStatusOf(
  authenticators: readonly UserSource[],
  user: NamedUser,
  signal: AbortSignal,
  clock: Clock = Date.now,
): Promise<AccountStatus> {
  const { via, proved = Infinity } = user;
  if (via === ISSUED_TOKENS) return CANNOT_TELL;
  if (via !== undefined) {
    const authenticator = authenticators.find(({ name }) => name === via);
    if (authenticator === undefined) return GONE;
    if (proved + (authenticator.derivedLifetime ?? Infinity) <= clock() / 1000) return GONE;
    return await authenticator.accountStatusOf?.(user, signal) ?? CANNOT_TELL;
  }
  let accountStatus: AccountStatus = GONE;
  let failure: { readonly error: unknown } | undefined;
  for (const authenticator of authenticators) {
    try {
      const said = await authenticator.accountStatusOf?.(user, signal) ?? CANNOT_TELL;
      if (said.kind === "known") return said;
      if (said.kind === "cannot tell") accountStatus = said;
    } catch (error) {
      signal.throwIfAborted();
      failure = { error };
    }
  }
  if (failure !== undefined) throw failure.error;
  return accountStatus;
}
