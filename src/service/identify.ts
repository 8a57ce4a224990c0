import {
  ANONYMOUS_ROLE,
  parsePreferences,
  type UserAttributes,
  userAttributes,
} from "../attributes/user_attributes.ts";
import { mayAccess } from "../attributes/access_rules.ts";
import { accountsOf } from "../attributes/server_attributes.ts";
import type { AttributeSource } from "../attributes/attribute_source.ts";
import { authenticate, type AuthenticationChain, unauthenticated } from "../authentication/chain.ts";
import { parseCredentials } from "../authentication/parse_credentials.ts";
import type { Logger } from "../logging/logger.ts";
import type { Authorization, Credentials } from "../model/credentials.ts";
import { sameName } from "../model/distinguished_name.ts";
import type { HeaderList } from "../model/header_list.ts";
import type { Caller, Identity } from "../model/identity.ts";
import type { HttpRequest } from "../model/http_message.ts";
import type { IdentifiedUser } from "../resource/call.ts";
import { signInCookie, type SignIns } from "../authentication/sign_in/sign_ins.ts";
import { HttpError, httpError } from "../model/http_error.ts";
import { unlessAborted } from "../model/unless_aborted.ts";
import { NEVER } from "../outgoing/probed_kind.ts";
import { type LoginThrottle, throttleLogin } from "../throttling/login_throttle.ts";
import type { Route } from "./http/router.ts";

/** Header that selects account, group and role (rest-api.md 1.5). */
export const PREFERENCES_HEADER = "X-UNICORE-User-Preferences";

/** Dependencies of identification and authorization. */
export interface IdentityParts {
  readonly chain: AuthenticationChain;
  readonly throttle: LoginThrottle;
  readonly attributes: AttributeSource;
  readonly signIns: SignIns | undefined; // absent without browser sign-in
  readonly accessControl: boolean; // `false` permits everything (tests only)
  readonly serverName: () => string | undefined; // the service's own DN
}

/** Request facts and observers for {@link identify}. */
export interface Identifying {
  readonly facts: Omit<Credentials, "authorization" | "proof">;
  readonly base: string;
  readonly url: string; // as the client sees it
  /** Called with the claimed user before authentication; see {@link claimedUser}. */
  readonly claimed: (user: string) => void;
  /** Called once the caller is known, for the log: later steps may fail. */
  readonly known: (caller: Caller) => void;
  readonly log: Logger;
  readonly signal: AbortSignal;
}

const NOBODY: IdentifiedUser = {
  caller: { kind: "anonymous" },
  user: attributesOfRole(ANONYMOUS_ROLE),
};

/**
 * Authenticates, resolves attributes and authorizes the request (rest-api.md 1.3, steps 2 to 5).
 * @throws 401, also for anonymous callers where a known one might pass. @throws {ERR_FORBIDDEN} And as the steps.
 */
export async function identify(
  { method, headers }: HttpRequest,
  { service, permission, heedsCapabilities, signedIn, linkPassword: ofLink }: Route,
  parts: IdentityParts,
  given: Identifying,
): Promise<IdentifiedUser> {
  if (service === "open") return NOBODY;
  const shown = parseCredentials(headers, given.facts, { method, url: given.url });
  const linkPassword = ofLink && shown.authorization.kind === "malformed"
    ? shown.authorization.linkPassword
    : undefined;
  const credentials: Credentials = linkPassword === undefined
    ? shown
    : { ...shown, authorization: { kind: "none" } };
  const byCookie = signedIn && credentials.authorization.kind === "none"
    ? await browserOf(headers, parts, given)
    : undefined;
  const identified = byCookie ?? await recognise(credentials, headers, parts, given);
  const { caller, user: { role } } = identified;
  if (parts.accessControl && !mayAccess(service, permission ?? method, role)) {
    throw refusalFor(caller, role, parts.chain);
  }
  if (caller.kind === "authenticated" && caller.identity.capabilities !== undefined && !heedsCapabilities) {
    throw httpError(
      "ERR_LOGIN_TOO_NARROW",
      "what was asked for does not keep to the capabilities of the token",
    );
  }
  return { ...identified, linkPassword };
}

/**
 * Authenticates credentials and resolves attributes.
 * @throws {ERR_UNAUTHENTICATED | ERR_TOO_MANY_FAILURES | ERR_AUTHENTICATION_UNAVAILABLE} And as attributes.
 */
export async function recognise(
  credentials: Credentials,
  headers: HeaderList,
  parts: IdentityParts,
  { claimed, known, log, signal }: Identifying,
): Promise<IdentifiedUser> {
  const { authorization, clientAddress } = credentials;
  const user = claimedUser(authorization);
  if (user !== undefined) claimed(user);
  // Verification continues after a disconnect: otherwise an attacker could abort slow, wrong guesses for
  // free.
  const judging = authorization.kind === "basic" ? NEVER : signal;
  const judged = throttleLogin(
    parts.throttle.admit(credentials, signal),
    (knownAs) => authenticate(parts.chain, { ...credentials, knownAs }, { log, signal: judging }),
    (result) => result.authorization,
  );
  const { caller } = await unlessAborted(judged, signal);
  if (caller instanceof HttpError) throw caller;
  if (caller.kind === "authenticated") parts.throttle.admitCaller(caller.identity, clientAddress);
  known(caller);
  if (caller.kind === "anonymous") return NOBODY;
  const found = await attributesOf(caller.identity, { headers, signal }, parts);
  parts.throttle.admitCaller(caller.identity, clientAddress, accountsOf(found));
  const userName = authorization.kind === "basic" ? caller.identity.login : undefined;
  return { caller, userName, user: found };
}

/** Returns the signed-in user of the browser. @throws {ERR_TOO_MANY_FAILURES} For a banned user, whose sign-in ends. And as attributes. */
async function browserOf(
  headers: HeaderList,
  parts: IdentityParts,
  { facts, base, known, signal }: Identifying,
): Promise<IdentifiedUser | undefined> {
  const token = signInCookie(base).valueIn(headers.get("Cookie"));
  const signIn = token === undefined ? undefined : await parts.signIns?.find(token, signal);
  if (token === undefined || signIn === undefined) return undefined;
  const { identity, userName } = signIn;
  const admit = async (accounts: readonly string[]) => {
    try {
      parts.throttle.admitCaller(identity, facts.clientAddress, accounts);
    } catch (error) {
      await parts.signIns?.end(token);
      throw error;
    }
  };
  await admit([]);
  const caller: Caller = { kind: "authenticated", identity };
  known(caller);
  const user = await attributesOf(identity, { headers, signal }, parts);
  await admit(accountsOf(user));
  return { caller, userName, user, signIn };
}

/** Resolves a caller's attributes with their preferences. @throws As preferences and sources. */
export async function attributesOf(
  identity: Identity,
  { headers, signal }: { readonly headers: HeaderList; readonly signal: AbortSignal },
  { attributes, serverName }: Pick<IdentityParts, "attributes" | "serverName">,
): Promise<UserAttributes> {
  const own = serverName();
  if (own !== undefined && sameName(own, identity.dn)) return attributesOfRole("server");
  const header = headers.get(PREFERENCES_HEADER);
  const preferences = parsePreferences(header === null ? [] : [header]);
  return await userAttributes(attributes, identity, { preferences, signal });
}

function attributesOfRole(role: string): UserAttributes {
  return {
    role,
    availableRoles: [role],
    availableUids: [],
    availableGroups: [],
    supplementaryGroups: [],
    availableQueues: [],
    extra: new Map(),
  };
}

function refusalFor(caller: Caller, role: string, chain: AuthenticationChain): Error {
  return caller.kind === "authenticated"
    ? httpError("ERR_FORBIDDEN", `role ${role}`)
    : unauthenticated(chain, "anonymous callers may not");
}

/** Returns the unverified user of credentials: user name, token subject, or a digest of the token. */
export function claimedUser(authorization: Authorization): string | undefined {
  switch (authorization.kind) {
    case "basic":
    case "ssh-legacy":
      return authorization.user;
    case "bearer":
      return authorization.subject ?? authorization.claimant;
    default:
      return undefined;
  }
}
