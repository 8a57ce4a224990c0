import { Buffer } from "node:buffer";
import { hash } from "node:crypto";
import { BoundedMap } from "../model/bounded_map.ts";
import { parseJsonObject } from "./json_object.ts";

/** A signed JSON Web Token that is well-formed; nothing in it is verified yet. */
export interface SignedToken {
  /** The token itself, a secret. */
  readonly text: string;
  /** SHA-256 of the text in base64, by which the token can be remembered. */
  readonly digest: string;
  readonly algorithm: string;
  readonly claims: ReadonlyMap<string, unknown>;
  /** Seconds since the epoch. */
  readonly expires: number;
}

/** Why a token is refused; the text is for the log and repeats nothing of the token. */
export class InvalidToken extends Error {
  override readonly name = "InvalidToken";
}

/** Longest token that is read, in characters; those of clients stay below 1,500. */
const MAX_TOKEN_LENGTH = 8192;

/** Seconds by which clocks may differ (authentication.md 3.7). */
export const CLOCK_TOLERANCE = 60;

/** Algorithms by which others may sign (RFC 8725, 3.1 and 3.2): none with a secret that both sides know. */
export const SIGNATURE_ALGORITHMS: readonly string[] = [
  ...["RS256", "RS384", "RS512", "PS256", "PS384", "PS512"],
  ...["ES256", "ES384", "ES512", "EdDSA", "Ed25519"],
];

/** How long a token may still be valid, and the setting that says so. */
export interface LifetimeLimit {
  readonly seconds: number;
  /** Key of the configuration, for the log. */
  readonly setting: string;
}

/** Header members that say nothing about where to get keys or how to read the token; all others are refused. */
const HEADER_MEMBERS = new Set(["alg", "typ", "kid"]);

/**
 * Takes a compact token apart (RFC 7515, 7519): three parts in canonical base64url, JSON objects without a member given
 * twice, no header but `alg`, `typ` and `kid`, so neither `crit` nor `jku`, `jwk`, `x5u`, `x5c` or `b64` (RFC 8725).
 * @throws {InvalidToken}
 */
export function parseSignedToken(text: string): SignedToken {
  if (text.length > MAX_TOKEN_LENGTH) throw new InvalidToken("the token is too long");
  const digest = hash("sha256", text, "base64");
  const known = READ.get(digest);
  if (known !== undefined) return { text, digest, ...known };
  const content = readContent(text);
  READ.set(digest, content);
  return { text, digest, ...content };
}

/** What a token says, without the token. */
type Content = Omit<SignedToken, "text" | "digest">;

/** What was read lately: clients show the same token for minutes, and what a text says never changes. */
const READ = new BoundedMap<string, Content>(500);

function readContent(text: string): Content {
  const [head, body, signature, more] = text.split(".", 4);
  if (head === undefined || body === undefined || signature === undefined || more !== undefined) {
    throw new InvalidToken("not three parts");
  }
  const header = decodeObject(head);
  decode(signature);
  const claims = decodeObject(body);
  const algorithm = header.get("alg");
  if (typeof algorithm !== "string") throw new InvalidToken("no algorithm");
  for (const name of header.keys()) {
    if (!HEADER_MEMBERS.has(name)) throw new InvalidToken("the header holds more than alg, typ and kid");
  }
  const type = header.get("typ") ?? "JWT";
  if (typeof type !== "string" || type.toUpperCase() !== "JWT") throw new InvalidToken("not of type JWT");
  const expires = claims.get("exp");
  if (typeof expires !== "number") throw new InvalidToken("no expiry");
  return { algorithm, claims, expires };
}

/**
 * Checks the claims that every token is subject to.
 * @param now Milliseconds since the epoch.
 * @param audience What `aud` must contain if it is there: the server's name, letter by letter.
 * @param maxLifetime Most time that may remain until expiry; no limit if left out.
 * @throws {InvalidToken}
 */
export function checkClaims(
  { claims, expires }: SignedToken,
  { now, audience, maxLifetime }: {
    readonly now: number;
    readonly audience: string;
    readonly maxLifetime?: LifetimeLimit;
  },
): void {
  const seconds = now / 1000;
  if (seconds >= expires + CLOCK_TOLERANCE) throw new InvalidToken("expired");
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
  if (claims.has("aud") && !named.includes(audience)) throw new InvalidToken("meant for another server");
}

/** A claim that must be text and not empty. @throws {InvalidToken} */
export function textClaim({ claims }: SignedToken, name: string): string {
  const value = claims.get(name);
  if (typeof value !== "string" || value === "" || !value.isWellFormed()) {
    throw new InvalidToken(`claim ${name} is not a text`);
  }
  return value;
}

function decodeObject(part: string): ReadonlyMap<string, unknown> {
  const object = parseJsonObject(decode(part));
  if (object === undefined) throw new InvalidToken("not a JSON object with each member given once");
  return object;
}

function decode(part: string): Buffer {
  const bytes = Buffer.from(part, "base64url");
  if (part === "" || bytes.toString("base64url") !== part) throw new InvalidToken("not in base64url");
  return bytes;
}
