import { Buffer } from "node:buffer";
import { parseJsonObject } from "./json_object.ts";

/** Algorithms that sign a JWT (RFC 7518, 8037, 8812, 9864); `none` is not among them. */
const SIGNATURE_ALGORITHMS: ReadonlySet<unknown> = new Set([
  ...["HS256", "HS384", "HS512", "RS256", "RS384", "RS512", "PS256", "PS384", "PS512"],
  ...["ES256", "ES384", "ES512", "ES256K", "EdDSA", "Ed25519", "Ed448"],
]);

/**
 * What is wrong with a bearer token that looks like a signed JWT, having three parts: providers have been seen to fail
 * with status 500 on such texts. Nothing is verified, and what has another number of parts is opaque to us.
 * @param options.opaque Whether the provider makes tokens that are no JWTs.
 * @returns For the log; `undefined` if the token may be shown to a provider.
 */
export function tokenProblem(token: string, { opaque }: { readonly opaque: boolean }): string | undefined {
  const [head, body, signature, more] = token.split(".", 4);
  if (head === undefined || body === undefined || signature === undefined || more !== undefined) {
    return opaque ? undefined : "the token is no signed JWT";
  }
  if (decode(signature) === undefined) return "the signature of the token is not in base64url";
  const header = readObject(head);
  if (header === undefined) return "the head of the token is no JSON object";
  if (!SIGNATURE_ALGORITHMS.has(header.get("alg"))) {
    return "the head of the token names no signature algorithm";
  }
  return readObject(body) === undefined ? "the claims of the token are no JSON object" : undefined;
}

function readObject(part: string): ReadonlyMap<string, unknown> | undefined {
  const bytes = decode(part);
  return bytes && parseJsonObject(bytes);
}

/** Base64url in its one form, and not empty. */
function decode(part: string): Buffer | undefined {
  const bytes = Buffer.from(part, "base64url");
  return part !== "" && bytes.toString("base64url") === part ? bytes : undefined;
}
