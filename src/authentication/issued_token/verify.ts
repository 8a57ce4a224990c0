import { createSecretKey, type KeyObject } from "node:crypto";
import { Buffer } from "node:buffer";
import type { Logger } from "../../logging/logger.ts";
import { isAccountName, isPrivilegedAccount } from "../../model/account_name.ts";
import type { Clock } from "../../model/clock.ts";
import type { Credentials } from "../../model/credentials.ts";
import { comparableForm, InvalidName } from "../../model/distinguished_name.ts";
import type { Identity } from "../../model/identity.ts";
import type { TlsMaterial } from "../../model/tls_material.ts";
import type { Authenticator, Verdict } from "../authenticator.ts";
import { isPersonalName } from "../personal_name.ts";
import {
  checkClaims,
  InvalidToken,
  isSignedBy,
  parseSignedToken,
  type SignedToken,
  textClaim,
} from "../signed_token.ts";
import { TokenVerifier } from "../token_verifier.ts";
import { type Issuer, isValidAt, trustedIssuerOf } from "./issuer.ts";
import { OwnIssuer } from "./own_issuer.ts";

export interface IssuedTokenOptions {
  readonly tls: () => TlsMaterial;
  /** Certificates of further issuers, PEM, one each (`container.security.rest.jwt.trustedIssuerCert.<n>`). */
  readonly trustedIssuers: readonly string[];
  /** Of at least 32 bytes in UTF-8; without it no HMAC token is accepted. */
  readonly hmacSecret?: string;
  readonly clock: Clock;
  readonly log: Logger;
}

/**
 * Recognises callers by tokens that this server issued, or another one that it trusts to name anybody. Stands before
 * the configured methods; such tokens are shown to no other (authentication.md 1.4, 4.2).
 * @throws {TypeError} If a trusted issuer's certificate cannot be used.
 * @throws {RangeError} If the HMAC secret is too short.
 */
export function issuedToken(options: IssuedTokenOptions): Authenticator {
  return new IssuedTokenAuthenticator(options);
}

class IssuedTokenAuthenticator implements Authenticator {
  readonly name = "ETD";
  readonly challenges: readonly ("Basic" | "Bearer")[] = ["Bearer"];
  readonly #own: OwnIssuer;
  readonly #trusted: readonly Issuer[];
  readonly #secret: KeyObject | undefined;
  readonly #verifier = new TokenVerifier();

  constructor(readonly options: IssuedTokenOptions) {
    this.#own = new OwnIssuer(options.tls);
    this.#trusted = options.trustedIssuers.map(trustedIssuerOf);
    if (options.hmacSecret !== undefined) this.#secret = readSecret(options.hmacSecret);
    for (const issuer of this.#trusted) {
      if (isValidAt(issuer, options.clock())) continue;
      options.log.warn("certificate of a trusted token issuer is out of date", { issuer: issuer.name });
    }
  }

  async authenticate({ authorization }: Credentials): Promise<Verdict> {
    if (authorization.kind !== "bearer" || authorization.route !== "issued") {
      return { kind: "skipped" };
    }
    try {
      return { kind: "accepted", identity: await this.#identify(authorization.token.reveal()) };
    } catch (error) {
      if (error instanceof InvalidToken) return { kind: "refused", reason: error.message };
      throw error;
    }
  }

  close(): void {}

  /** @throws {InvalidToken} */
  async #identify(text: string): Promise<Identity> {
    const token = parseSignedToken(text);
    if (!isTrue(token.claims.get("etd"))) throw new InvalidToken("not an issued token");
    const [dn, issuer] = [textClaim(token, "sub"), textClaim(token, "iss")];
    const own = this.#own.current;
    checkClaims(token, { now: this.options.clock(), audience: own.name });
    if (!isPersonalName(dn, own.name)) throw new InvalidToken("claim sub names no caller");
    const signer = await this.#signer(token, issuer);
    const isOwn = signer !== "secret" && signer.comparableName === own.comparableName;
    return {
      dn,
      method: "ETD",
      via: this.name,
      ...(isOwn ? accountOf(token) : {}),
      issuedToken: {
        issuer,
        renewable: isTrue(token.claims.get("renewable")),
        limitedTo: token.claims.has("aud") ? own.name : undefined,
        preferences: token.claims.has("preferences") ? textClaim(token, "preferences") : undefined,
        renewableUntil: isOwn ? renewableUntil(token) : token.expires,
      },
    };
  }

  /** Who signed: an issuer of that name whose certificate is in date, or a holder of the secret. */
  async #signer(token: SignedToken, issuer: string): Promise<Issuer | "secret"> {
    if (token.algorithm.startsWith("HS")) {
      const secret = this.#secret;
      if (token.algorithm === "HS256" && secret !== undefined && await isSignedBy(token, secret)) {
        return "secret";
      }
      throw new InvalidToken("not signed with a shared secret of ours");
    }
    const name = readName(issuer);
    const now = this.options.clock();
    for (const candidate of [this.#own.current, ...this.#trusted]) {
      const { comparableName, algorithms, key, fingerprint } = candidate;
      if (comparableName !== name || !isValidAt(candidate, now)) continue;
      if (!algorithms.includes(token.algorithm)) continue;
      if (await this.#verifier.isSignedBy(token, key, fingerprint)) return candidate;
    }
    throw new InvalidToken("not signed by an issuer that is trusted");
  }
}

/** The account in a token of our own; for tokens of others it would let them say who may use which account. */
function accountOf(token: SignedToken): Pick<Identity, "uid" | "role" | "uidServers"> {
  if (!token.claims.has("uid")) return {};
  const uid = textClaim(token, "uid");
  if (!isAccountName(uid) || isPrivilegedAccount(uid)) {
    throw new InvalidToken("claim uid is no user's account");
  }
  const servers = token.claims.get("uidServers");
  if (servers === undefined) return { uid, role: "user" };
  if (!Array.isArray(servers)) throw new InvalidToken("claim uidServers is not a list");
  const uidServers = servers.filter((server: unknown) => typeof server === "string");
  return { uid, role: "user", uidServers };
}

/** Where a token does not say it, as those of other servers, it can be traded for one that lasts no longer. */
function renewableUntil({ claims, expires }: SignedToken): number {
  const limit = claims.get("renewableUntil");
  return typeof limit === "number" ? limit : expires;
}

function readName(text: string): string {
  try {
    return comparableForm(text);
  } catch (error) {
    if (error instanceof InvalidName) throw new InvalidToken("claim iss is not a DN");
    throw error;
  }
}

function readSecret(text: string): KeyObject {
  const bytes = Buffer.from(text, "utf8");
  if (bytes.length < 32) throw new RangeError("The HMAC secret must be of at least 32 bytes");
  return createSecretKey(bytes);
}

/** Truth as text, in any case, or as a boolean. */
function isTrue(claim: unknown): boolean {
  return claim === true || (typeof claim === "string" && claim.toLowerCase() === "true");
}
