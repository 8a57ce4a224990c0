import { createPrivateKey, type KeyObject } from "node:crypto";
import { type Clock, epochSeconds } from "../../model/clock.ts";
import { type Caller, decidedRole, type Identity } from "../../model/identity.ts";
import { printable } from "../../model/text.ts";
import { httpError } from "../../model/http_error.ts";
import type { TlsMaterial } from "../../model/tls_material.ts";
import { isPersonalName } from "../check_identity.ts";
import { isRestricted, restricted, type TokenRestrictions } from "../../model/token_restrictions.ts";
import { familyWith, type TokenFamily } from "../../model/token_family.ts";
import { userReference } from "../account_status.ts";
import { isValidAt } from "../../model/trust/certificate_facts.ts";
import { parseSignedToken } from "../signed_token.ts";
import { familyClaims, presentedToken } from "./registered_token.ts";
import { readRestrictions, restrictionsClaim } from "./restrictions.ts";
import { type Issuer, OwnIssuer } from "./issuer.ts";
import type { TokenRegistry } from "./token_registry.ts";

/** Token request (credentials.md 4.1). */
export interface TokenRequest {
  readonly lifetime?: number; // seconds
  readonly renewable: boolean;
  readonly limited: boolean; // whether it is valid for this server only
  readonly restrictions?: TokenRestrictions;
  readonly name?: string; // label for its owner
}

const MAX_NAME = 100; // characters

/** Lifetimes in seconds. */
export interface TokenLimits {
  readonly defaultLifetime: number; // `container.security.rest.jwt.lifetime`
  readonly maxLifetime: number;
  /** From the first token to the end of the last renewal. Default: a week. */
  readonly renewalPeriod?: number;
}

/** @throws {ERR_INVALID_TOKEN_REQUEST} */
export function readTokenRequest(query: URLSearchParams): TokenRequest {
  const [lifetime, again] = query.getAll("lifetime");
  if (lifetime !== undefined && (again !== undefined || !/^[1-9]\d{0,9}$/.test(lifetime))) {
    throw httpError("ERR_INVALID_TOKEN_REQUEST", {
      text: "The token lifetime must be one whole number of seconds from 1",
    });
  }
  const name = query.get("name") ?? undefined;
  if (name !== undefined && (name === "" || name.length > MAX_NAME || printable(name) !== name)) {
    throw httpError("ERR_INVALID_TOKEN_REQUEST", {
      text: `name: expected 1 to ${MAX_NAME} characters that can be printed`,
    });
  }
  const restrictions = readRestrictions(query);
  const isTrue = (name: string) => query.getAll(name).some((value) => value.toLowerCase() === "true");
  return {
    lifetime: lifetime === undefined ? undefined : Number(lifetime),
    renewable: isTrue("renewable"),
    limited: isTrue("limited"),
    ...(isRestricted(restrictions) && { restrictions }),
    ...(name !== undefined && { name }),
  };
}

/** Issues tokens for callers, signed with the server's key. */
export class TokenIssuer {
  readonly #own: OwnIssuer;
  #lastKey: { pem: string; key: KeyObject } | undefined;

  constructor(
    readonly options: {
      readonly tls: () => TlsMaterial;
      readonly limits: TokenLimits;
      readonly clock: Clock;
      /** Latest end of anything derived from the login, in seconds since the epoch. */
      readonly derivedUntil: (identity: Identity) => number;
      readonly registry?: TokenRegistry; // absent: tokens are not registered
    },
  ) {
    this.#own = new OwnIssuer(options.tls);
  }

  /**
   * Issues a compact JWS with the caller's authentication facts. One derived from a token inherits its
   * limits. A restricted token is valid for this server only, since others may ignore restrictions.
   * @param maker.preferences In header syntax; frozen in the token.
   * @throws {ERR_TOKEN_RESTRICTIONS | ERR_TOKEN_NEEDS_IDENTITY | ERR_TOKEN_NOT_RENEWABLE | ERR_TOKEN_LIFETIME |
   * ERR_LOGIN_NOT_DERIVABLE | ERR_TOKENS_UNAVAILABLE | ERR_RECORD_STORE}
   */
  async issue(
    caller: Caller,
    request: TokenRequest,
    { role, preferences, clientAddress }: {
      readonly role: string;
      readonly preferences?: string;
      readonly clientAddress: string;
    },
  ): Promise<string> {
    if (caller.kind === "anonymous") throw httpError("ERR_TOKEN_NEEDS_IDENTITY");
    const { identity } = caller;
    const issuer = this.#issuer();
    if (!isPersonalName(identity.dn, issuer.name)) throw httpError("ERR_TOKEN_NEEDS_IDENTITY");
    const { latest, ...times } = this.#timesOf(identity, request);
    const { issuedToken: former, browser } = identity;
    const { by, byVia, byLogin, byUid, byRole } = former ?? {};
    // A browser sign-in is the root of its tokens' family: revoking it revokes them, including later renewals.
    const signedIn = browser &&
      { id: browser.id, expires: latest, since: this.options.clock(), root: browser.id, line: [] };
    const restrictions = restricted(former?.restrictions ?? {}, request.restrictions ?? {});
    if (typeof restrictions === "string") {
      const text = `a new token cannot have fewer restrictions (${restrictions})`;
      throw httpError("ERR_TOKEN_RESTRICTIONS", { restrictions: text });
    }
    const limited = request.limited || isRestricted(restrictions);
    const limitedTo = former?.limitedTo ?? (limited ? issuer.name : undefined);
    const claims = {
      ...commonClaims(identity.dn, issuer, times, former?.preferences ?? preferences),
      ...{ by, byVia, byLogin, byUid, byRole },
      via: userReference(identity).via,
      login: identity.login,
      displayName: identity.displayName,
      uid: identity.uid,
      uidServers: identity.uid === undefined ? undefined : identity.uidServers,
      acr: identity.acr,
      cred: identity.credential,
      proved: identity.proved,
      auth_time: identity.authTime === "now" ? times.now : identity.authTime,
      role: decidedRole(identity),
      groups: identity.groups,
      highestRole: role,
      aud: limitedTo,
      restrictions: restrictionsClaim(restrictions),
      name: request.name,
      ...this.#family(times.expires, former?.family ?? signedIn),
    };
    return await this.#make(claims, issuer, clientAddress);
  }

  /**
   * Issues a token for an absent user at an administrator's request, with the rights from attribute sources.
   * @throws {ServiceError} `ERR_TOKEN_SUBJECT`, `ERR_TOKEN_LIFETIME`, `ERR_LOGIN_NOT_DERIVABLE`, `ERR_TOKENS_UNAVAILABLE`
   */
  async issueFor(
    subject: string,
    maker: Identity,
    { preferences, ...request }: Pick<TokenRequest, "lifetime" | "renewable"> & { preferences?: string },
  ): Promise<string> {
    const issuer = this.#issuer();
    if (!isPersonalName(subject, issuer.name)) throw httpError("ERR_TOKEN_SUBJECT");
    const times = this.#timesOf(maker, request);
    const { dn: by, via: byVia, login: byLogin, uid: byUid } = userReference(maker);
    const made = { by, byVia, byLogin, byUid, byRole: decidedRole(maker) ?? "anonymous" };
    const claims = { ...commonClaims(subject, issuer, times, preferences), ...made };
    return await this.#make({ ...claims, ...this.#family(times.expires) }, issuer, undefined);
  }

  /** Returns the times of a token from a login, and the latest end of its renewals, in seconds since the epoch. */
  #timesOf(login: Identity, { lifetime, renewable }: Pick<TokenRequest, "lifetime" | "renewable">) {
    const now = epochSeconds(this.options.clock);
    const derived = Math.floor(this.options.derivedUntil(login)) - now;
    if (derived < 1) throw httpError("ERR_LOGIN_NOT_DERIVABLE");
    const latest = Math.min(this.#renewableUntil(login, now), now + derived);
    // Shortened silently, since callers cannot know that limit.
    const asked = lifetime === undefined ? undefined : Math.min(lifetime, derived);
    const expires = now + this.#lifetime(asked, now, latest);
    return { now, expires, latest, renewableUntil: renewable ? latest : undefined };
  }

  #family(expires: number, former?: TokenFamily): Record<string, unknown> {
    return familyClaims(familyWith(former, { id: crypto.randomUUID(), expires }, this.options.clock()));
  }

  async #make(claims: object, issuer: Issuer, madeFrom: string | undefined): Promise<string> {
    const token = await this.#sign(JSON.stringify(claims), issuer);
    const signer = { issuer, pem: this.options.tls().certificate };
    await this.options.registry?.register(presentedToken(parseSignedToken(token)), madeFrom, signer);
    return token;
  }

  #issuer(): Issuer {
    const issuer = this.#own.current;
    if (!isValidAt(issuer.validity, this.options.clock())) {
      throw httpError("ERR_TOKENS_UNAVAILABLE", "the server's certificate is out of date");
    }
    return issuer;
  }

  /** Returns the end of renewals of the caller's tokens, in seconds since the epoch. */
  #renewableUntil({ issuedToken }: Identity, now: number): number {
    const { maxLifetime, renewalPeriod = 7 * 86_400 } = this.options.limits;
    const latest = now + Math.max(maxLifetime, renewalPeriod);
    if (issuedToken === undefined) return latest;
    if (!issuedToken.renewable) {
      throw httpError("ERR_TOKEN_NOT_RENEWABLE", "it was not asked for as renewable");
    }
    return Math.min(issuedToken.renewableUntil ?? now, latest);
  }

  /** Seconds that the limits and the certificate permit now. */
  get longestLifetime(): number {
    const certificate = Math.floor((this.#issuer().validity.to - this.options.clock()) / 1000);
    return Math.min(this.options.limits.maxLifetime, certificate);
  }

  #lifetime(lifetime: number | undefined, now: number, until: number): number {
    const { defaultLifetime } = this.options.limits;
    const permitted = this.longestLifetime;
    if (permitted < 1) {
      throw httpError("ERR_TOKENS_UNAVAILABLE", "the server's certificate is about to expire");
    }
    if (until - now < 1) throw httpError("ERR_TOKEN_NOT_RENEWABLE", "its time for renewal is over");
    const longest = Math.min(permitted, until - now);
    if (lifetime !== undefined && lifetime > longest) throw httpError("ERR_TOKEN_LIFETIME", { longest });
    return lifetime ?? Math.min(defaultLifetime, longest);
  }

  async #sign(claims: string, { algorithms: [alg = ""] }: Issuer): Promise<string> {
    try {
      const { CompactSign } = await import("jose");
      return await new CompactSign(new TextEncoder().encode(claims)).setProtectedHeader({ alg }).sign(
        this.#key(),
      );
    } catch (cause) {
      throw httpError("ERR_TOKENS_UNAVAILABLE", "the server's key cannot be used", cause);
    }
  }

  #key(): KeyObject {
    const pem = this.options.tls().key;
    if (this.#lastKey?.pem !== pem) this.#lastKey = { pem, key: createPrivateKey(pem) };
    return this.#lastKey.key;
  }
}

/** Returns common claims, with booleans as texts, which clients and other servers expect; JSON omits undefined ones. */
function commonClaims(
  sub: string,
  { name: iss }: Issuer,
  { now, expires, renewableUntil }: Record<"now" | "expires", number> & {
    renewableUntil?: number | undefined;
  },
  preferences?: string,
) {
  const renewable = renewableUntil === undefined ? undefined : "true";
  const given = preferences === "" ? undefined : preferences;
  return { sub, iss, iat: now, exp: expires, etd: "true", preferences: given, renewable, renewableUntil };
}
