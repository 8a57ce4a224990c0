import { Buffer } from "node:buffer";
import { parseJsonObject } from "./json_object.ts";
import { InvalidToken } from "./signed_token.ts";

/** A JWT of somebody else, taken apart; nothing in it is verified yet. */
export interface ForeignToken {
  /** The token itself, a secret. */
  readonly text: string;
  readonly header: ReadonlyMap<string, unknown>;
  readonly claims: ReadonlyMap<string, unknown>;
  /** The claims as they are written, JSON. */
  readonly body: string;
}

/** Algorithms that sign a JWT (RFC 7518, 8037, 8812, 9864); `none` is not among them. */
const SIGNATURE_ALGORITHMS: ReadonlySet<unknown> = new Set([
  ...["HS256", "HS384", "HS512", "RS256", "RS384", "RS512", "PS256", "PS384", "PS512"],
  ...["ES256", "ES384", "ES512", "ES256K", "EdDSA", "Ed25519", "Ed448"],
]);

/**
 * Takes a bearer token apart that has three parts, as a signed JWT has (RFC 7515, 7519; RFC 8725, 2.4): each in the one
 * form of base64url, head and claims JSON objects in which no member is given twice. Providers have been seen to fail with
 * status 500 on anything else.
 * @returns `undefined` for a token with another number of parts, which is opaque to us.
 * @throws {InvalidToken}
 */
export function readForeignToken(text: string): ForeignToken | undefined {
  const [head, body, signature, more] = text.split(".", 4);
  if (head === undefined || body === undefined || signature === undefined || more !== undefined) {
    return undefined;
  }
  if (decode(signature) === undefined) {
    throw new InvalidToken("the signature of the token is not in base64url");
  }
  const header = readObject(head);
  if (header === undefined) throw new InvalidToken("the head of the token is no JSON object");
  if (!SIGNATURE_ALGORITHMS.has(header.object.get("alg"))) {
    throw new InvalidToken("the head of the token names no signature algorithm");
  }
  const claims = readObject(body);
  if (claims === undefined) throw new InvalidToken("the claims of the token are no JSON object");
  return { text, header: header.object, claims: claims.object, body: claims.bytes.toString("utf8") };
}

function readObject(
  part: string,
): { readonly bytes: Buffer; readonly object: ReadonlyMap<string, unknown> } | undefined {
  const bytes = decode(part);
  const object = bytes && parseJsonObject(bytes);
  return object && { bytes, object };
}

/** Base64url in its one form, and not empty. */
function decode(part: string): Buffer | undefined {
  const bytes = Buffer.from(part, "base64url");
  return part !== "" && bytes.toString("base64url") === part ? bytes : undefined;
}

/**
 * Why a bearer token must not be shown to a provider: it looks like a signed JWT and is none.
 * @param options.opaque Whether the provider makes tokens that are no JWTs.
 * @returns For the log; `undefined` if the token may be shown.
 */
export function tokenDiagnostic(token: string, { opaque }: { readonly opaque: boolean }): string | undefined {
  try {
    return readForeignToken(token) === undefined && !opaque ? NO_JWT : undefined;
  } catch (error) {
    if (error instanceof InvalidToken) return error.message;
    throw error;
  }
}

/** Of a token that is opaque where none is expected; for the log. */
export const NO_JWT = "the token is no signed JWT, and opaqueTokens is false";
