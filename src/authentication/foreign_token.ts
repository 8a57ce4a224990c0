import { Buffer } from "node:buffer";
import { parseJsonObject } from "./json_object.ts";
import { InvalidToken } from "./signed_token.ts";

/** Parsed but unverified JWT of another issuer. */
export interface ForeignToken {
  readonly text: string;
  readonly header: ReadonlyMap<string, unknown>;
  readonly claims: ReadonlyMap<string, unknown>;
  readonly body: string; // JSON of the claims
}

/** Signature algorithms (RFC 7518, 8037, 8812, 9864) without `none`. */
const SIGNATURE_ALGORITHMS: ReadonlySet<unknown> = new Set([
  ...["HS256", "HS384", "HS512", "RS256", "RS384", "RS512", "PS256", "PS384", "PS512"],
  ...["ES256", "ES384", "ES512", "ES256K", "EdDSA", "Ed25519", "Ed448"],
]);

/**
 * Parses a signed JWT (RFC 7515, 7519; RFC 8725, 2.4); `undefined` for an opaque token. Base64url must be
 * canonical and members unique: other forms made providers fail with status 500. @throws {InvalidToken}
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

/** Decodes non-empty canonical base64url. */
function decode(part: string): Buffer | undefined {
  const bytes = Buffer.from(part, "base64url");
  return part !== "" && bytes.toString("base64url") === part ? bytes : undefined;
}

/** Returns for the log why a malformed token must not reach a provider; `undefined` if it may. */
export function tokenDiagnostic(token: string, { opaque }: { readonly opaque: boolean }): string | undefined {
  try {
    return readForeignToken(token) === undefined && !opaque ? NO_JWT : undefined;
  } catch (error) {
    if (error instanceof InvalidToken) return error.message;
    throw error;
  }
}

/** Log reason for an unexpected opaque token. */
export const NO_JWT = "the token is no signed JWT, and opaqueTokens is false";
