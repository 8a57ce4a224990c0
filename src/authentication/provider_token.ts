import type { Credentials } from "../model/credentials.ts";
import type { AuthenticationResult } from "./authenticator.ts";
import { MAX_AUTHORIZATION } from "./parse_credentials.ts";

/**
 * Returns the token for a provider, which must never see issued or SSH key tokens (authentication.md 1.5).
 * @param options.bound Whether tokens with a proof of possession are allowed, which the caller verifies.
 */
export function tokenForProvider(
  { authorization }: Credentials,
  { bound }: { readonly bound: boolean },
): string | AuthenticationResult {
  if (authorization.kind !== "bearer" || authorization.route !== "provider") {
    return { kind: "skipped" };
  }
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
