import { isDeepStrictEqual } from "node:util";
import {
  ANONYMOUS_ROLE,
  BANNED_ROLE,
  parsePreferences,
  type UserAttributes,
  userAttributes,
} from "../attributes/user_attributes.ts";
import { mayAccess } from "../attributes/access_rules.ts";
import { accountsOf } from "../attributes/server_attributes.ts";
import type { AttributeSource } from "../attributes/attribute_source.ts";
import {
  authenticate,
  type AuthenticationChain,
  type ResultListener,
  unauthenticated,
} from "../authentication/chain.ts";
import { type AccountLookup, currentIdentity } from "../authentication/account_status.ts";
import type { TokenRegistry } from "../authentication/issued_token/token_registry.ts";
import { parseCredentials } from "../authentication/parse_credentials.ts";
import type { AuditFacts } from "../logging/audit_record.ts";
import type { Logger } from "../logging/logger.ts";
import type { Authorization, Credentials } from "../model/credentials.ts";
import { sameName } from "../model/distinguished_name.ts";
import type { HeaderList } from "../model/http_message.ts";
import { ANONYMOUS_DN, type Caller, type Identity } from "../model/identity.ts";
import type { Call, IdentifiedUser } from "../resource/call.ts";
import { signInCookie, type SignIns } from "../authentication/sign_in/sign_ins.ts";
import { onError } from "../model/attempt.ts";
import { HttpError, httpError } from "../model/http_error.ts";
import { NEVER } from "../outgoing/probed_kind.ts";
import { type LoginThrottle, throttleLogin } from "../throttling/login_throttle.ts";
import type { Route } from "./http/router.ts";

/** Header that selects account, group and role (rest-api.md 1.5). */
export const PREFERENCES_HEADER = "X-UNICORE-User-Preferences";

export interface IdentityParts {
  readonly chain: AuthenticationChain;
  readonly onResult?: ResultListener;
  readonly throttle: LoginThrottle;
  readonly attributes: AttributeSource | undefined; // absent: each user has the role `user`
  readonly signIns: SignIns | undefined; // absent without browser sign-in
  readonly accessControl: boolean; // `false` permits everything (tests only)
  readonly serverName: () => string | undefined; // the service's own DN
  readonly accountStatus: AccountLookup;
  readonly registry?: TokenRegistry | undefined; // absent without storage of tokens
}

/** Facts about a request so far, for log and audit. */
export interface Trace {
  route?: Route;
  client: string | undefined;
  dn?: string;
  via?: string; // authenticator of the caller
  claimed?: string; // user name, not verified
  facts: AuditFacts;
}

interface Unidentified {
  readonly method: string;
  readonly headers: HeaderList;
  readonly facts: Omit<Credentials, "authorization" | "proof">;
  readonly base: string;
  readonly url: string; // as the client sees it
  readonly trace: Trace; // gets the claimed user before authentication, and the caller before later steps may fail
  readonly log: Logger;
  readonly signal: AbortSignal;
}

const NOBODY: IdentifiedUser = { caller: { kind: "anonymous" }, user: attributesOfRole(ANONYMOUS_ROLE) };

/**
 * Authenticates, resolves attributes and authorizes the request (rest-api.md 1.3, steps 2 to 5).
 * @throws 401, also for anonymous callers where a known one might be permitted. @throws {ERR_FORBIDDEN} And as the steps.
 */
export async function identify(
  request: Unidentified,
  { service, permission, checksCapabilities, signedIn, withoutAttributes, linkPassword: ofLink }: Route,
  allParts: IdentityParts,
): Promise<IdentifiedUser> {
  if (service === "open") return (signedIn && await browserUser(request, allParts)) || NOBODY;
  const parts = withoutAttributes ? { ...allParts, attributes: undefined } : allParts;
  const { method, url } = request;
  const shown = parseCredentials(request.headers, request.facts, { method, url });
  const linkPassword = ofLink && shown.authorization.kind === "malformed"
    ? shown.authorization.linkPassword
    : undefined;
  const credentials: Credentials = linkPassword === undefined
    ? shown
    : { ...shown, authorization: { kind: "none" } };
  const byCookie = signedIn && credentials.authorization.kind === "none"
    ? await browserOf(request, parts)
    : undefined;
  const identified = byCookie ?? await recognise(credentials, request, parts);
  const { caller, user: { role, outage } } = identified;
  if (parts.accessControl && !mayAccess(service, permission ?? method, role)) {
    if (caller.kind === "anonymous") throw unauthenticated(parts.chain, "anonymous callers may not");
    throw (role === BANNED_ROLE ? undefined : outage) ?? httpError("ERR_FORBIDDEN", `role ${role}`);
  }
  if (caller.kind === "authenticated" && caller.identity.capabilities !== undefined && !checksCapabilities) {
    throw httpError(
      "ERR_LOGIN_TOO_NARROW",
      "what was asked for does not keep to the capabilities of the token",
    );
  }
  return { ...identified, linkPassword };
}

/** Returns {@link Call.userNow}, which asks the sources again if more than a second has passed. */
export function userLater(
  { caller, user }: IdentifiedUser,
  request: Pick<Unidentified, "headers" | "signal">,
  parts: IdentityParts,
): Call["userNow"] {
  const until = performance.now() + 1000;
  return async () => {
    if (performance.now() < until) return undefined;
    if (caller.kind === "anonymous") return user;
    const identity = await currentIdentity(caller.identity, parts.accountStatus, request.signal);
    if (identity === undefined) throw unauthenticated(parts.chain, "the user is gone since the request");
    const { dn, uidServers: servers, issuedToken: { family } = {} } = caller.identity;
    if (family !== undefined && await parts.registry?.isRevoked({ dn, family, token: { servers } })) {
      throw unauthenticated(parts.chain, "the token was revoked since the request");
    }
    const now = await attributesOf(identity, request, parts);
    const { outage } = now;
    if (outage !== undefined && !isDeepStrictEqual(now, { ...user, outage })) throw outage;
    const reason = `role ${now.role} since the request`;
    if (now.role !== user.role) throw user.outage ?? httpError("ERR_FORBIDDEN", reason);
    return now;
  };
}

/** Authenticates credentials and resolves attributes. @throws {ERR_UNAUTHENTICATED | ERR_TOO_MANY_FAILURES} And as attributes. */
export async function recognise(
  credentials: Credentials,
  { headers, trace, log, signal }: Pick<Unidentified, "headers" | "trace" | "log" | "signal">,
  parts: IdentityParts,
): Promise<IdentifiedUser> {
  const { authorization, clientAddress } = credentials;
  trace.claimed = claimedUser(authorization) ?? trace.claimed;
  // Verification continues after a disconnect: otherwise an attacker could abort slow, wrong guesses for
  // free.
  const until = authorization.kind === "basic" ? NEVER : signal;
  const context = { log, signal: until, onResult: parts.onResult };
  const { caller } = await throttleLogin(
    parts.throttle.admit(credentials, signal),
    (knownAs) => authenticate(parts.chain, { ...credentials, knownAs }, context),
    (result) => result.authorization,
  );
  signal.throwIfAborted();
  if (caller instanceof HttpError) throw caller;
  if (caller.kind === "authenticated") parts.throttle.admitCaller(caller.identity, clientAddress);
  note(caller, trace);
  if (caller.kind === "anonymous") return NOBODY;
  const found = await attributesOf(caller.identity, { headers, signal }, parts);
  parts.throttle.admitCaller(caller.identity, clientAddress, accountsOf(found));
  const userName = authorization.kind === "basic" ? caller.identity.login : undefined;
  return { caller, userName, user: found };
}

/** Returns the signed-in user of the browser; undefined also if that cannot be found out. */
export async function browserUser(request: Unidentified, parts: IdentityParts) {
  return await browserOf(request, parts).catch(onError(HttpError, () => undefined));
}

/** Returns the signed-in user of the browser. @throws {ERR_TOO_MANY_FAILURES} For a banned user, whose sign-in ends. And as attributes. */
async function browserOf(
  { facts: { clientAddress }, headers, base, trace, signal }: Unidentified,
  parts: IdentityParts,
): Promise<IdentifiedUser | undefined> {
  const token = signInCookie(base).valueIn(headers.get("Cookie"));
  const signIn = token === undefined ? undefined : await parts.signIns?.find(token, signal);
  if (token === undefined || signIn === undefined) return undefined;
  const { identity, userName } = signIn;
  const admit = async (accounts: readonly string[]) => {
    try {
      parts.throttle.admitCaller(identity, clientAddress, accounts);
    } catch (error) {
      await parts.signIns?.end(token);
      throw error;
    }
  };
  await admit([]);
  const caller: Caller = { kind: "authenticated", identity };
  note(caller, trace);
  const user = await attributesOf(identity, { headers, signal }, parts);
  await admit(accountsOf(user));
  return { caller, userName, user, signIn };
}

function note(caller: Caller, trace: Trace): void {
  trace.dn = caller.kind === "anonymous" ? ANONYMOUS_DN : caller.identity.dn;
  trace.via = caller.kind === "anonymous" ? undefined : caller.identity.via;
}

/** Resolves a caller's attributes with their preferences. @throws As preferences and sources. */
export async function attributesOf(
  identity: Identity,
  { headers, signal }: { readonly headers: HeaderList; readonly signal: AbortSignal },
  { attributes, serverName }: Pick<IdentityParts, "attributes" | "serverName">,
): Promise<UserAttributes> {
  const own = serverName();
  if (own !== undefined && sameName(own, identity.dn)) return attributesOfRole("server");
  if (attributes === undefined) return attributesOfRole("user");
  const header = headers.get(PREFERENCES_HEADER);
  const preferences = parsePreferences(header === null ? [] : [header]);
  return await userAttributes(attributes, identity, { preferences, signal });
}

function attributesOfRole(role: string): UserAttributes {
  const none = { availableUids: [], availableGroups: [], supplementaryGroups: [], extra: new Map() };
  return { role, availableRoles: [role], ...none };
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
