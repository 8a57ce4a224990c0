import type { KeyObject } from "node:crypto";
import type { KeySet } from "./key_set.ts";
import { errors } from "jose";
import { CLOCK_TOLERANCE, type ForeignToken, InvalidToken, SIGNATURE_ALGORITHMS } from "../signed_token.ts";
import type { EndedLogins } from "../authenticator.ts";
import { isJsonObject, isTextList } from "../../model/json_object.ts";
import { isSignedBy } from "../jws_signature.ts";
import { type Claims, textsOf } from "../claims.ts";
import type { Variables } from "../expression/value.ts";

export type IssuerKeys = Pick<KeySet, "matching">;

/** Token types in lower case, without `application/` (RFC 9068, 2.1 and 4; RFC 7515, 4.1.9). */
const TYPES: ReadonlySet<string> = new Set(["at+jwt", "jwt"]);
const LOGOUT_TYPES: ReadonlySet<string> = new Set(["logout+jwt", "jwt"]); // OIDC Back-Channel Logout 1.0, 2.4

/** Header members that change meaning or encoding; key locations are simply ignored. */
const REFUSED_MEMBERS = ["crit", "b64", "zip", "enc", "cty"] as const;

const MOST_KEYS = 4; // keys tried if the token names none

/** Characters (OIDC Core 1.0, 2: 255 for `sub`). */
const LONGEST: Readonly<Record<string, number>> = {
  kid: 512,
  sub: 255,
  jti: 512,
  sid: 255,
  client_id: 1024,
  azp: 1024,
};

interface TokenRules {
  readonly issuer: string;
  readonly keys: IssuerKeys;
  readonly now: number;
  readonly signal: AbortSignal;
}

/**
 * Verifies a JWT access token (RFC 9068, 4; RFC 8725) except for its audience. @throws {InvalidToken}
 * @param redeemed The token endpoint issued it to this service as an access token: no claim must mark it as one.
 */
export async function verifyAccessToken(
  token: ForeignToken,
  { redeemed, ...rules }: TokenRules & { readonly redeemed: boolean },
): Promise<void> {
  const { header, claims } = token;
  await verifyToken(token, rules, () => {
    checkForms(claims);
    const other = otherKind(header, claims, redeemed);
    if (other !== undefined) throw new InvalidToken(other, { advice: "kind" });
  });
}

/** Verifies an ID token (OIDC Core 1.0, 3.1.3.7) except for subject, audience and nonce. @throws {InvalidToken} */
export async function verifyIdToken(token: ForeignToken, rules: TokenRules): Promise<void> {
  await verifyToken(token, rules);
}

/** Longest age of a logout token in seconds, and time in the replay cache. */
export const LOGOUT_S = 300;

/** OIDC Back-Channel Logout 1.0, 2.4. */
const LOGOUT_EVENT = "http://schemas.openid.net/event/backchannel-logout";

/** Verifies a logout token (OIDC Back-Channel Logout 1.0, 2.6) except audience and replay. @throws {InvalidToken} */
export async function verifyLogoutToken(
  token: ForeignToken,
  rules: TokenRules,
): Promise<EndedLogins & { readonly jti: string }> {
  const { claims } = token;
  await verifyToken(token, rules, () => {
    const issued = dateOr(claims, "iat");
    if (issued === undefined) throw new InvalidToken("a logout token without iat");
    if (issued < rules.now / 1000 - LOGOUT_S) throw new InvalidToken("a logout token that is too old");
    if (claims.has("nonce")) throw new InvalidToken("a logout token with a nonce");
    const events = claims.get("events");
    if (!isJsonObject(events) || !isJsonObject(events[LOGOUT_EVENT])) {
      throw new InvalidToken("its events are not those of a logout token");
    }
  }, LOGOUT_TYPES);
  const [jti, sub, sid] = ["jti", "sub", "sid"].map((name) => textOr(claims, name));
  if (jti === undefined) throw new InvalidToken("a logout token without jti");
  if (sub === undefined && sid === undefined) throw new InvalidToken("a logout token without sub and sid");
  return { jti, sub, sid };
}

/** @param checkClaims Runs before the signature check. */
async function verifyToken(
  token: ForeignToken,
  { issuer, keys, now, signal }: TokenRules,
  checkClaims = () => {},
  types = TYPES,
): Promise<void> {
  const { header, claims, algorithm: alg } = token;
  if (!SIGNATURE_ALGORITHMS.includes(alg)) {
    throw new InvalidToken("signed by an algorithm that is not allowed");
  }
  checkHeader(header, types);
  if (claims.get("iss") !== issuer) throw new InvalidToken("of another issuer");
  checkTimes(claims, now / 1000);
  checkClaims();
  await checkSignature(token.text, alg, await keys.matching({ alg, kid: textOr(header, "kid") }, signal));
}

function checkHeader(header: ReadonlyMap<string, unknown>, types: ReadonlySet<string>): void {
  for (const member of REFUSED_MEMBERS) {
    if (header.has(member)) throw new InvalidToken(`the head of the token has ${member}`);
  }
  const type = header.get("typ");
  if (header.has("typ") && (typeof type !== "string" || !types.has(mediaType(type)))) {
    throw new InvalidToken("the head of the token has the type of another sort of token");
  }
}

function mediaType(type: string): string {
  return type.toLowerCase().replace(/^application\//, "");
}

function checkTimes(claims: ReadonlyMap<string, unknown>, seconds: number): void {
  const [expires, notBefore, issued] = ["exp", "nbf", "iat"].map((name) => dateOr(claims, name));
  if (expires === undefined) throw new InvalidToken("no expiry");
  if (seconds >= expires) throw new InvalidToken("expired", { advice: "expired" });
  if (notBefore !== undefined && notBefore > seconds + CLOCK_TOLERANCE) {
    throw new InvalidToken("not valid yet");
  }
  if (issued !== undefined && issued > seconds + CLOCK_TOLERANCE) {
    throw new InvalidToken("issued in the future");
  }
}

/** Checks the types of decisive claims (RFC 7519, 4.1; RFC 9068, 2.2). */
function checkForms(claims: ReadonlyMap<string, unknown>): void {
  for (const name of ["sub", "jti", "client_id", "azp", "typ", "token_type", "token_use"]) {
    textOr(claims, name);
  }
  for (const name of ["aud", "scope", "scp"]) {
    const value = claims.get(name);
    const fits = value === undefined || typeof value === "string" || isTextList(value);
    if (!fits) throw new InvalidToken(`claim ${name} is neither a text nor a list of texts`);
  }
}

/** Claims of ID and logout tokens (OIDC Core 1.0, 2 and 3.3.2.11; RFC 8417, 2.2). */
const CLAIMS_OF_ID_TOKENS = ["nonce", "at_hash", "c_hash", "s_hash"] as const;

/**
 * Returns for the log why a token is no access token (RFC 8725, 3.11 and 3.12). Issuers without `at+jwt` mark
 * types by claims (Keycloak's `typ`, Cognito's `token_use`).
 */
function otherKind(
  header: ReadonlyMap<string, unknown>,
  claims: ReadonlyMap<string, unknown>,
  redeemed: boolean,
): string | undefined {
  for (const name of TYPE_CLAIMS) {
    const value = claims.get(name);
    const isAccess = value === undefined || (typeof value === "string" && ACCESS.has(value.toLowerCase()));
    if (!isAccess) return `its ${name} is not that of an access token`;
  }
  if (claims.has("events")) return "a logout token or a security event";
  if (redeemed) return undefined;
  const type = header.get("typ");
  if (typeof type === "string" && mediaType(type) === "at+jwt") return undefined;
  if (["typ", "token_use"].some((name) => claims.has(name))) return undefined;
  if (CLAIMS_OF_ID_TOKENS.some((name) => claims.has(name))) return "it looks like an ID token";
  const isAccess = ["scope", "scp", "client_id", "appid", "wlcg.ver"].some((name) => claims.has(name));
  return isAccess ? undefined : "no claim marks it as an access token";
}

const ACCESS: ReadonlySet<unknown> = new Set(["bearer", "dpop", "access", "access_token", "at+jwt"]);
const OTHER: ReadonlySet<string> = new Set(["id", "refresh", "offline", "logout"]);
const TYPE_CLAIMS = ["typ", "token_type", "token_use"]; // claims with the type

/** Returns for the log a claim that marks another type of token; unknown values are ignored. */
export function otherTokenType(claim: Claims): string | undefined {
  const found = TYPE_CLAIMS.find((name) =>
    textsOf(claim(name)).some((text) => text.toLowerCase().split(/[^a-z]/).some((word) => OTHER.has(word)))
  );
  return found === undefined ? undefined : `its ${found} is not that of an access token`;
}

/** Reports whether a claim or the header marks an access token. */
export function isMarkedAccess(claims: Variables, token: ForeignToken | undefined): boolean {
  const type = token?.header.get("typ");
  return (typeof type === "string" && mediaType(type) === "at+jwt") ||
    TYPE_CLAIMS.some((name) => textsOf(claims.get(name)).some((text) => ACCESS.has(text.toLowerCase())));
}

async function checkSignature(text: string, algorithm: string, keys: readonly KeyObject[]): Promise<void> {
  for (const key of keys.slice(0, MOST_KEYS)) {
    try {
      if (await isSignedBy({ text, algorithm }, key)) return;
    } catch (error) {
      if (!(error instanceof errors.JOSEError)) throw error;
    }
  }
  throw new InvalidToken("not signed by a key of the issuer");
}

function textOr(members: ReadonlyMap<string, unknown>, name: string): string | undefined {
  const value = members.get(name);
  if (value === undefined) return undefined;
  if (typeof value !== "string" || value === "" || !value.isWellFormed()) {
    throw new InvalidToken(`${name} is not a text`);
  }
  if (value.length > (LONGEST[name] ?? 64)) throw new InvalidToken(`${name} is too long`);
  return value;
}

/** Returns an optional time in seconds since the epoch (RFC 7519, 2). @throws {InvalidToken} */
function dateOr(claims: ReadonlyMap<string, unknown>, name: string): number | undefined {
  const value = claims.get(name);
  if (value === undefined) return undefined;
  if (typeof value !== "number" || !Number.isFinite(value)) {
    throw new InvalidToken(`claim ${name} is no number of seconds`);
  }
  return value;
}
