import { Buffer } from "node:buffer";
import { hash } from "node:crypto";
import { decodeBase64Url } from "../model/base64.ts";
import { BoundedMap } from "../model/bounded_map.ts";
import { parseJsonObject } from "../model/json_object.ts";

/** Well-formed but unverified JWT. */
export interface SignedToken {
  readonly text: string;
  readonly digest: string; // SHA-256 of the text in base64
  readonly algorithm: string;
  readonly claims: ReadonlyMap<string, unknown>;
  readonly expires: number; // seconds since the epoch
}

/** Advice to a client about its token (RFC 6750, 3: `error_description`). No text depends on a user. */
const ADVICE = {
  audience: "The token is for another service (aud)",
  client: "The token was issued to another client",
  expired: "The token has expired",
  kind: "This is not an access token",
  proof: "The token is bound to a key or certificate, and the request does not prove its possession",
  scope: "The token lacks a required scope",
} as const;

/** Reason to refuse a token, for the log; quotes nothing of it. */
export class InvalidToken extends Error {
  readonly advice: string | undefined; // for the client

  constructor(message: string, { advice, ...options }: ErrorOptions & { advice?: keyof typeof ADVICE } = {}) {
    super(message, options);
    this.advice = advice && ADVICE[advice];
  }
}

const MAX_TOKEN_LENGTH = 8192; // characters; real ones stay below 1,500

/** Clock skew in seconds (credentials.md 3.7). */
export const CLOCK_TOLERANCE = 60;

/** Reports whether a login is recent enough. @param authTime In seconds; 0 if unknown. */
export function isFresh(authTime: number, maxAuthAge: number, now: number): boolean {
  const age = now / 1000 - authTime;
  return age <= maxAuthAge && age >= -CLOCK_TOLERANCE;
}

/** Members of a JWK that make it a secret key (RFC 7518, 6.2.2, 6.3.2, 6.4.1). */
export const SECRET_MEMBERS = ["d", "p", "q", "dp", "dq", "qi", "oth", "k"];

/** Asymmetric algorithms for other issuers (RFC 8725, 3.1 and 3.2). */
export const SIGNATURE_ALGORITHMS: readonly string[] = [
  ...["RS256", "RS384", "RS512", "PS256", "PS384", "PS512"],
  ...["ES256", "ES384", "ES512", "EdDSA", "Ed25519"],
];

export interface LifetimeLimit {
  readonly seconds: number;
  readonly setting: string; // configuration key, for the log
}

/** Allowed header members; others could change keys or meaning. */
const HEADER_MEMBERS = new Set(["alg", "typ", "kid"]);

/** Parses a compact JWT (RFC 7515, 7519; RFC 8725): canonical base64url, no repeated members, no header but `alg`, `typ` and `kid`. @throws {InvalidToken} */
export function parseSignedToken(text: string): SignedToken {
  if (text.length > MAX_TOKEN_LENGTH) throw new InvalidToken("the token is too long");
  const digest = hash("sha256", text, "base64");
  return { text, digest, ...READ.getOrInsertComputed(digest, () => readContent(text)) };
}

type Content = Omit<SignedToken, "text" | "digest">;

/** Cache of parsed tokens, since clients reuse them for minutes. */
const READ = new BoundedMap<string, Content>(500);

function readContent(text: string): Content {
  const token = readForeignToken(text);
  if (token === undefined) throw new InvalidToken("not three parts");
  const { header, claims, algorithm } = token;
  for (const name of header.keys()) {
    if (!HEADER_MEMBERS.has(name)) throw new InvalidToken("the header holds more than alg, typ and kid");
  }
  const type = header.get("typ") ?? "JWT";
  if (typeof type !== "string" || type.toUpperCase() !== "JWT") throw new InvalidToken("not of type JWT");
  const expires = claims.get("exp");
  if (typeof expires !== "number") throw new InvalidToken("no expiry");
  return { algorithm, claims, expires };
}

/** Checks the common claims. @throws {InvalidToken} @param audience Required in `aud` if present: the server's exact name. */
export function checkClaims(
  { claims, expires }: SignedToken,
  { now, audience, maxLifetime }: {
    readonly now: number;
    readonly audience: string;
    readonly maxLifetime?: LifetimeLimit;
  },
): void {
  const seconds = now / 1000;
  if (seconds >= expires + CLOCK_TOLERANCE) throw new InvalidToken("expired", { advice: "expired" });
  if (maxLifetime !== undefined && expires - seconds > maxLifetime.seconds + CLOCK_TOLERANCE) {
    const { seconds: permitted, setting } = maxLifetime;
    throw new InvalidToken(`lifetime is too long: more than the ${permitted} seconds of ${setting}`);
  }
  const notBefore = claims.get("nbf");
  if (claims.has("nbf") && (typeof notBefore !== "number" || notBefore > seconds + CLOCK_TOLERANCE)) {
    throw new InvalidToken("not valid yet");
  }
  const intended = claims.get("aud");
  const named: unknown[] = Array.isArray(intended) ? intended : [intended];
  if (claims.has("aud") && !named.includes(audience)) {
    throw new InvalidToken("meant for another server", { advice: "audience" });
  }
}

/** Returns a required non-empty text claim. @throws {InvalidToken} */
export function textClaim({ claims }: SignedToken, name: string): string {
  const value = claims.get(name);
  if (typeof value !== "string" || value === "" || !value.isWellFormed()) {
    throw new InvalidToken(`claim ${name} is not a text`);
  }
  return value;
}

function decodeObject(bytes: Buffer, message: string): ReadonlyMap<string, unknown> {
  const object = parseJsonObject(bytes);
  if (object === undefined) throw new InvalidToken(message);
  return object;
}

/** Decodes non-empty canonical base64url. @throws {InvalidToken} */
function decode(part: string, message: string): Buffer {
  const bytes = decodeBase64Url(part);
  if (!bytes?.length) throw new InvalidToken(message);
  return bytes;
}

/** Parsed but unverified JWT of another issuer. */
export interface ForeignToken {
  readonly text: string;
  readonly algorithm: string;
  readonly header: ReadonlyMap<string, unknown>;
  readonly claims: ReadonlyMap<string, unknown>;
  readonly body: string; // JSON of the claims
}

/** Signature algorithms (RFC 7518, 8037, 8812, 9864) without `none`. */
const KNOWN_ALGORITHMS: ReadonlySet<unknown> = new Set(
  ["HS256", "HS384", "HS512", ...SIGNATURE_ALGORITHMS, "ES256K", "Ed448"],
);

/**
 * Parses a signed JWT (RFC 7515, 7519; RFC 8725, 2.4); `undefined` for an opaque token. Base64url must be
 * canonical and members unique: other forms made providers fail with status 500. @throws {InvalidToken}
 */
export function readForeignToken(text: string): ForeignToken | undefined {
  const [head, body, signature, more] = text.split(".", 4);
  if (head === undefined || body === undefined || signature === undefined || more !== undefined) {
    return undefined;
  }
  decode(signature, "the signature of the token is not in base64url");
  const noHead = "the head of the token is no JSON object";
  const header = decodeObject(decode(head, noHead), noHead);
  const algorithm = header.get("alg");
  if (typeof algorithm !== "string" || !KNOWN_ALGORITHMS.has(algorithm)) {
    throw new InvalidToken("the head of the token names no signature algorithm");
  }
  const noClaims = "the claims of the token are no JSON object";
  const bytes = decode(body, noClaims);
  return { text, algorithm, header, claims: decodeObject(bytes, noClaims), body: bytes.toString("utf8") };
}

/** Log reason for an unexpected opaque token. */
export const NO_JWT = "the token is no signed JWT, and opaqueTokens is false";
