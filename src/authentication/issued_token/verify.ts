import { createSecretKey, type KeyObject } from "node:crypto";
import { Buffer } from "node:buffer";
import { attempt } from "../../model/attempt.ts";
import { certificatesOfPem, UnusableStore } from "../../config/tls/certificates.ts";
import type { Logger } from "../../logging/logger.ts";
import { addressInRange } from "../../model/address.ts";
import { groupNames, isUserAccount } from "../../model/account_name.ts";
import type { Clock } from "../../model/clock.ts";
import type { Credentials } from "../../model/credentials.ts";
import { canonicalDn, InvalidName } from "../../model/distinguished_name.ts";
import { BoundedMap } from "../../model/bounded_map.ts";
import type { Identity, IssuedTokenFacts } from "../../model/identity.ts";
import type { TlsMaterial } from "../../model/tls_material.ts";
import type { TokenRestrictions } from "../../model/token_restrictions.ts";
import type { TokenFamily } from "../../model/token_family.ts";
import type { AuthenticationResult, Authenticator } from "../authenticator.ts";
import { isTextList } from "../../model/json_object.ts";
import { isTrue } from "../parse_credentials.ts";
import { checkIdentity, isPersonalName, NoIdentity } from "../check_identity.ts";
import { isSignedBy, TokenVerifier } from "../jws_signature.ts";
import { type AccountLookup, currentIdentity, ISSUED_TOKENS } from "../account_status.ts";
import { checkClaims, InvalidToken, parseSignedToken, type SignedToken, textClaim } from "../signed_token.ts";
import { findPath } from "../../model/trust/certificate_path.ts";
import { isValidAt } from "../../model/trust/certificate_facts.ts";
import { presentedToken } from "./registered_token.ts";
import { restrictionsFromClaim } from "./restrictions.ts";
import { type Issuer, issuerOf, OwnIssuer, sourceOf, trustedIssuerOf } from "./issuer.ts";
import type { TokenRegistry } from "./token_registry.ts";

export interface IssuedTokenOptions {
  readonly tls: () => TlsMaterial;
  /** Further issuers' certificates, PEM (`container.security.rest.jwt.trustedIssuerCert.<n>`). */
  readonly trustedIssuers: readonly string[];
  readonly hmacSecret?: string; // at least 32 bytes in UTF-8; absent: HMAC tokens are refused
  readonly accountStatus: AccountLookup; // checks whether the token's user still exists
  readonly registry?: TokenRegistry; // absent: no list and no revocation
  readonly clock: Clock;
  readonly log: Logger;
}

/**
 * Authenticates tokens of this or a trusted server, before other authenticators (credentials.md 4.2).
 * @throws {TypeError | RangeError} If a trusted issuer's certificate is unusable, or the secret too short.
 */
export function issuedToken(options: IssuedTokenOptions): Authenticator {
  return new IssuedTokenAuthenticator(options);
}

class IssuedTokenAuthenticator implements Authenticator {
  readonly name = ISSUED_TOKENS;
  readonly challenges: readonly ("Basic" | "Bearer")[] = ["Bearer"];
  readonly #own: OwnIssuer;
  readonly #trusted: readonly Issuer[];
  readonly #secret: KeyObject | undefined;
  readonly #verifier = new TokenVerifier();
  readonly #logged = new BoundedMap<string, true>(1000);

  constructor(readonly options: IssuedTokenOptions) {
    this.#own = new OwnIssuer(options.tls);
    this.#trusted = options.trustedIssuers.map(trustedIssuerOf);
    const secret = options.hmacSecret && Buffer.from(options.hmacSecret, "utf8");
    if (secret && secret.length < 32) throw new RangeError("the HMAC secret must be of at least 32 bytes");
    this.#secret = secret ? createSecretKey(secret) : undefined;
    for (const issuer of this.#trusted) {
      if (isValidAt(issuer.validity, options.clock())) continue;
      options.log.warn("certificate of a trusted token issuer is out of date", { issuer: issuer.name });
    }
  }

  async authenticate(
    { authorization, clientAddress }: Credentials,
    signal: AbortSignal,
  ): Promise<AuthenticationResult> {
    if (authorization.kind !== "bearer" || authorization.route !== "issued") return { kind: "skipped" };
    try {
      const identity = await this.#identify(authorization.token.reveal(), clientAddress);
      const left = await currentIdentity(identity, this.options.accountStatus, signal);
      if (left === undefined) throw new InvalidToken("its user, or who requested it, is gone");
      return { kind: "accepted", identity: left };
    } catch (error) {
      if (error instanceof InvalidToken) {
        return { kind: "refused", reason: error.message, advice: error.advice };
      }
      throw error;
    }
  }

  close(): void {}

  /** @throws {InvalidToken} Also what the registry throws. */
  async #identify(text: string, clientAddress: string): Promise<Identity> {
    const token = parseSignedToken(text);
    const { claims, expires } = token;
    if (!isTrue(claims.get("etd"))) throw new InvalidToken("not an issued token");
    const [dn, issuer] = [textClaim(token, "sub"), textClaim(token, "iss")];
    const { name: own } = this.#own.current;
    const isForUs = !claims.has("aud") || [claims.get("aud")].flat(1).includes(own);
    checkClaims(token, { now: this.options.clock(), audience: isForUs ? own : issuer });
    if (!isPersonalName(dn, own)) throw new InvalidToken("claim sub names no caller");
    const signer = await this.#signer(token, issuer);
    const isOwn = signer === "own";
    if (!isForUs && !isOwn) throw new InvalidToken("meant for another server", { advice: "audience" });
    const facts: IssuedTokenFacts = {
      issuer,
      by: isOwn ? optionalText(token, "by") : undefined,
      byVia: isOwn ? optionalText(token, "byVia") : undefined,
      byLogin: isOwn ? optionalText(token, "byLogin") : undefined,
      byUid: isOwn ? optionalText(token, "byUid") : undefined,
      byRole: isOwn ? optionalText(token, "byRole") : undefined,
      identifiedBy: isOwn ? optionalText(token, "via") : signer,
      highestRole: isOwn ? optionalText(token, "highestRole") : undefined,
      renewable: isTrue(claims.get("renewable")),
      limitedTo: claims.has("aud") ? own : undefined,
      preferences: optionalText(token, "preferences"),
      renewableUntil: isOwn ? renewableUntil(token) : expires,
      restrictions: restrictionsIn(token),
    };
    const address = facts.restrictions?.address;
    if (address !== undefined && !addressInRange(clientAddress, address)) {
      throw new InvalidToken("shown from another address than it is for");
    }
    const identity = { method: "ETD", via: this.name };
    if (!isOwn) return { dn: checkedName(dn), ...identity, issuedToken: facts };
    if (!claims.has("via") && !claims.has("by") && this.#logged.get(token.digest) === undefined) {
      this.#logged.set(token.digest, true);
      this.options.log.warn("token of an earlier version has no role: attribute sources decide", { dn });
    }
    const family = await this.#family(token, clientAddress);
    return { dn, ...identity, ...decidedOf(token), issuedToken: { ...facts, family } };
  }

  /** Returns an issued token's family. @throws {InvalidToken} If any is revoked. Also what the registry throws. */
  async #family(token: SignedToken, clientAddress: string): Promise<TokenFamily> {
    const { registry } = this.options;
    const presented = presentedToken(token);
    if (await registry?.isRevoked(presented)) {
      throw new InvalidToken("it was revoked, or a token that it was obtained with was revoked");
    }
    registry?.recordUse(presented, clientAddress);
    return presented.family;
  }

  /** Returns {@link sourceOf} the signer, or `own`: an issuer with a current (if listed, former) certificate, or a holder of the secret. */
  async #signer(token: SignedToken, issuer: string): Promise<string> {
    if (token.algorithm.startsWith("HS")) {
      const secret = this.#secret;
      if (token.algorithm === "HS256" && secret !== undefined && await isSignedBy(token, secret)) {
        return sourceOf(this.options.hmacSecret ?? "");
      }
      throw new InvalidToken("not signed with a shared secret of ours");
    }
    const name = attempt(() => canonicalDn(issuer), InvalidName, () => {
      throw new InvalidToken("claim iss is not a DN");
    });
    const now = this.options.clock();
    const own = this.#own.current;
    for (const candidate of [own, ...this.#trusted]) {
      const { canonicalName, algorithms, key, fingerprint } = candidate;
      if (canonicalName !== name || !isValidAt(candidate.validity, now)) continue;
      if (!algorithms.includes(token.algorithm)) continue;
      if (await this.#verifier.isSignedBy(token, key, fingerprint)) {
        return canonicalName === own.canonicalName ? "own" : sourceOf(candidate);
      }
    }
    if (own.canonicalName === name && await this.#isFormerlySigned(token, own.canonicalName)) return "own";
    throw new InvalidToken("not signed by an issuer that is trusted");
  }

  /** Verifies a listed token with former certificates from the store, each of which an authority must vouch for. */
  async #isFormerlySigned(token: SignedToken, own: string): Promise<boolean> {
    const { registry, tls, clock } = this.options;
    if (registry === undefined || !await registry.isListed(presentedToken(token))) return false;
    const { anchors, revocation } = tls();
    for (const pem of await registry.issuers(own)) {
      const chain = attempt(() => certificatesOfPem(pem), UnusableStore, () => []);
      const [first] = chain;
      if (first === undefined) continue;
      const { canonicalName, algorithms, key, fingerprint } = issuerOf(first.toString());
      if (canonicalName !== own || !algorithms.includes(token.algorithm)) continue;
      const way = findPath(chain, { anchors, revocation, purpose: "serverAuth", at: clock() });
      if (typeof way === "string") continue;
      if (await this.#verifier.isSignedBy(token, key, fingerprint)) return true;
    }
    return false;
  }
}

/** Returns the facts in an own token; the caller ignores others, which could claim any account. @throws {InvalidToken} */
function decidedOf(
  token: SignedToken,
): Omit<Identity, "dn" | "method" | "via"> {
  const uid = optionalText(token, "uid");
  if (uid !== undefined && !isUserAccount(uid)) throw new InvalidToken("claim uid is no user's account");
  const groups = listClaim(token, "groups");
  if (groups !== undefined && !groups.flatMap(groupNames).every(isUserAccount)) {
    throw new InvalidToken("claim groups contains a name that no user's group can have");
  }
  const uidServers = uid === undefined ? undefined : listClaim(token, "uidServers");
  return {
    login: optionalText(token, "login"),
    displayName: optionalText(token, "displayName"),
    uid,
    uidServers,
    role: optionalText(token, "role"),
    credential: optionalText(token, "cred"),
    proved: optionalNumber(token, "proved"),
    acr: optionalText(token, "acr"),
    authTime: optionalNumber(token, "auth_time"),
    groups,
  };
}

function restrictionsIn({ claims }: SignedToken): TokenRestrictions | undefined {
  const restrictions = restrictionsFromClaim(claims.get("restrictions"));
  if (restrictions !== undefined || !claims.has("restrictions")) return restrictions;
  throw new InvalidToken("claim restrictions cannot be read");
}

function optionalText(token: SignedToken, name: string): string | undefined {
  return token.claims.has(name) ? textClaim(token, name) : undefined;
}

function optionalNumber({ claims }: SignedToken, name: string): number | undefined {
  const value = claims.get(name);
  if (value !== undefined && typeof value !== "number") {
    throw new InvalidToken(`claim ${name} is not a number`);
  }
  return value;
}

/** @throws {InvalidToken} If present but no list of texts. */
function listClaim({ claims }: SignedToken, name: string): readonly string[] | undefined {
  const value = claims.get(name);
  if (value === undefined || isTextList(value)) return value;
  throw new InvalidToken(`claim ${name} is not a list of texts`);
}

/** Checks a name from another service. @throws {InvalidToken} */
function checkedName(dn: string): string {
  return attempt(() => checkIdentity(dn), NoIdentity, ({ message }) => {
    throw new InvalidToken(`claim sub: ${message}`);
  });
}

/** Returns the limit of renewals, in seconds since the epoch; without the claim, the token's own expiry. */
function renewableUntil({ claims, expires }: SignedToken): number {
  const limit = claims.get("renewableUntil");
  return typeof limit === "number" ? limit : expires;
}
