import { decodeBase64 } from "../model/base64.ts";
import { attempt } from "../model/attempt.ts";
import { Buffer, isUtf8 } from "node:buffer";
import { hash } from "node:crypto";
import { confusable } from "../model/confusables.ts";
import type { Authorization, BearerRoute, Credentials } from "../model/credentials.ts";
import type { HeaderList } from "../model/http_message.ts";
import { Secret } from "../model/secret.ts";
import type { AuthenticationResult } from "./authenticator.ts";
import { isJsonObject } from "../model/json_object.ts";

/** Legacy SSH token header (credentials.md 3.8). */
export const LEGACY_SSH_HEADER = "X-UNICORE-SSHKEY-AUTH-PLAINTEXT";

const PROOF_HEADER = "DPoP"; // RFC 9449, 4.1

/** Characters; real tokens with many groups have 13,000. */
export const MAX_AUTHORIZATION = 32 * 1024;
const MAX_USER = 256; // characters
/** Octets; providers read at most 8 KiB of header fields, with the password in base64. */
const MAX_PASSWORD = 4096;
const MAX_SIGNED = 1024; // characters of the base64 text that a legacy token signs: 20 bytes or a nonce

/**
 * Parses credentials (credentials.md 1.3, RFC 7617, RFC 6750). Unreadable ones and repeated headers are
 * `malformed`, never anonymous. @param request Absent: proofs of possession are ignored.
 */
export function parseCredentials(
  headers: HeaderList,
  facts: Omit<Credentials, "authorization" | "proof">,
  request?: { readonly method: string; readonly url: string },
): Credentials {
  const authorization = parseAuthorization(headers);
  if (authorization.kind !== "bearer" || authorization.scheme === undefined || request === undefined) {
    return { ...facts, authorization };
  }
  // A comma means a repeated header.
  const text = headers.get(PROOF_HEADER);
  return { ...facts, authorization, proof: text === null ? undefined : { text, ...request } };
}

function parseAuthorization(headers: HeaderList): Authorization {
  const header = headers.get("authorization");
  const signed = headers.get(LEGACY_SSH_HEADER);
  if (header === null) {
    return signed === null ? { kind: "none" } : malformed("signed text without Authorization");
  }

  if (header.length > MAX_AUTHORIZATION) {
    return malformed(`Authorization longer than ${MAX_AUTHORIZATION} characters`);
  }
  const [, scheme, parameter] = /^([!#$%&'*+.^_`|~\w-]+) +([!-~]+)$/.exec(header) ?? [];
  if (scheme === undefined || parameter === undefined) return malformed("not one scheme with one parameter");
  switch (scheme.toLowerCase()) {
    case "basic":
      return parseBasic(parameter, signed);
    case "bearer":
      return signed === null ? parseBearer(parameter) : malformed("signed text beside a bearer token");
    case "dpop":
      return signed === null ? parseBound(parameter) : malformed("signed text beside a bound token");
    default:
      return malformed("scheme is neither Basic nor Bearer nor DPoP");
  }
}

function parseBearer(token: string): Authorization {
  if (!/^[A-Za-z0-9._~+/-]+=*$/.test(token)) return malformed("characters that no bearer token has");
  return { kind: "bearer", token: new Secret(token), ...readBearer(token) };
}

/** Parses a DPoP token (RFC 9449, 7.1): only providers' tokens are bound to client keys. */
function parseBound(token: string): Authorization {
  const authorization = parseBearer(token);
  if (authorization.kind !== "bearer") return authorization;
  return authorization.route === "provider"
    ? { ...authorization, scheme: "DPoP" }
    : malformed("a token that is not bound, with scheme DPoP");
}

function parseBasic(encoded: string, signed: string | null): Authorization {
  const octets = decodeUnpadded(encoded);
  if (octets === undefined) return malformed("Basic credentials are not base64");
  if (!isUtf8(octets)) return malformed("Basic credentials are not UTF-8");
  const text = octets.toString("utf8");
  const colon = text.indexOf(":");
  if (colon === -1) return malformed("no colon in Basic credentials");
  const authorization = passwordLogin(text.slice(0, colon), text.slice(colon + 1));
  return signed === null || authorization.kind !== "basic"
    ? authorization
    : parseLegacy(authorization.user, authorization.password.reveal(), signed);
}

/** Returns password credentials, or `malformed` for impossible ones. */
export function passwordLogin(user: string, password: string): Authorization {
  if (/[\0\r\n]/.test(user + password)) return malformed("NUL, CR or LF in name or password");
  // A provider would read the rest as the start of the password (RFC 7617, 2).
  if (user.includes(":")) return malformed("colon in user name");
  if (Buffer.byteLength(password) > MAX_PASSWORD) return malformed(`password over ${MAX_PASSWORD} octets`);
  if (user === "") return { ...malformed("empty user name"), linkPassword: new Secret(password) };
  if (user.length > MAX_USER) return malformed(`user name longer than ${MAX_USER} characters`);
  return { kind: "basic", user, password: new Secret(password) };
}

function parseLegacy(user: string, signature: string, signed: string): Authorization {
  if (signed.length > MAX_SIGNED) return malformed(`signed text longer than ${MAX_SIGNED} characters`);
  const octets = decodeUnpadded(signed);
  if (!octets?.length) return malformed("signed text is not base64");
  if (!decodeUnpadded(signature)?.length) return malformed("signature is not base64");
  return { kind: "ssh-legacy", user, signature: new Secret(signature), signed: octets };
}

/** Decodes canonical base64 with optional padding. */
function decodeUnpadded(text: string): Buffer | undefined {
  return decodeBase64(text.padEnd(Math.ceil(text.length / 4) * 4, "="));
}

function malformed(reason: string): Authorization & { readonly kind: "malformed" } {
  return { kind: "malformed", reason };
}

interface BearerClaims {
  readonly route: BearerRoute; // kind of authenticator that it is for
  readonly issuer?: string; // `iss`, if a text
  /** Digest of issuer and subject, so that all tokens of a user have the same; without a subject, of the token. */
  readonly claimant: string;
  readonly subject?: string; // `sub`, unless too long
}

const MAX_SUBJECT = 1024; // characters, enough for distinguished names

/** Reads the unverified claims of a bearer token; never throws. */
export function readBearer(token: string): BearerClaims {
  const claims = readClaims(token);
  const route = claims === undefined ? "provider" : routeOf(claims);
  const subject = typeof claims?.sub === "string" ? claims.sub : undefined;
  const subjectKey = subject === undefined ? token : JSON.stringify([route, claims?.iss, subject]);
  return {
    route,
    issuer: typeof claims?.iss === "string" ? claims.iss : undefined,
    claimant: hash("sha256", subjectKey, "base64url"),
    subject: subject && subject.length <= MAX_SUBJECT ? subject : undefined,
  };
}

/**
 * Returns the kind of authenticator for a token (credentials.md 1.5). Decoding is lenient, so that a
 * nearly valid issued token never reaches another server.
 */
function routeOf(claims: Readonly<Record<string, unknown>>): BearerRoute {
  if (isTrue(claims.etd)) return "issued";
  if (typeof claims.sub === "string" && claims.sub === claims.iss) return "ssh-key";
  return "provider";
}

function readClaims(token: string): Readonly<Record<string, unknown>> | undefined {
  const [, payload, signature, more] = token.split(".", 4);
  if (payload === undefined || signature === undefined || more !== undefined) return undefined;
  const text = Buffer.from(payload.replaceAll(/[^\w+/-]/g, ""), "base64url").toString("utf8");
  const claims: unknown = attempt(() => JSON.parse(text), SyntaxError, () => undefined); // not a JWT
  return isJsonObject(claims) ? claims : undefined;
}

/** Reports whether a claim is true: clients send booleans or texts in any case (credentials.md 4.2). */
export function isTrue(claim: unknown): boolean {
  return claim === true || (typeof claim === "string" && claim.toLowerCase() === "true");
}

/** Returns the user name and password for a provider. */
export function passwordForProvider(
  { authorization }: Credentials,
): { readonly user: string; readonly password: string } | AuthenticationResult {
  if (authorization.kind !== "basic") return { kind: "skipped" };
  const { user } = authorization;
  const password = authorization.password.reveal();
  // LDAP servers treat an empty password as an anonymous login (RFC 4513, 5.1.2).
  if (user === "" || password === "") return { kind: "refused", reason: "user name or password is empty" };
  // Servers ignore case, some blanks and characters; the throttle would count each spelling as another user.
  const reason = confusable(user);
  return reason === undefined
    ? { user, password }
    : { kind: "refused", reason: `the user name has ${reason}` };
}

/**
 * Returns the token for a provider, which must never see issued or SSH key tokens (credentials.md 1.5).
 * @param options.bound Whether tokens with a proof of possession are allowed, which the caller verifies.
 */
export function tokenForProvider(
  { authorization }: Credentials,
  { bound }: { readonly bound: boolean },
): string | AuthenticationResult {
  if (authorization.kind !== "bearer" || authorization.route !== "provider") return { kind: "skipped" };
  if (authorization.scheme !== undefined && !bound) {
    return { kind: "skipped", reason: "proofs of possession are not verified" };
  }
  const token = authorization.token.reveal();
  if (token.length > MAX_AUTHORIZATION) {
    return { kind: "refused", reason: `the token is longer than ${MAX_AUTHORIZATION} characters` };
  }
  // RFC 6750 section 2.1
  if (!/^[A-Za-z0-9\-._~+/]+=*$/.test(token)) {
    return { kind: "refused", reason: "the token has characters no token has" };
  }
  return token;
}
