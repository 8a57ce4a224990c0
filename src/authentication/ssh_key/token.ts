import {
  checkClaims,
  InvalidToken,
  type LifetimeLimit,
  parseSignedToken,
  type SignedToken,
  textClaim,
} from "../signed_token.ts";
import type { SshKeyType } from "./public_key.ts";

/** Key types by algorithm (authentication.md 3.7; `Ed25519`: RFC 9864). */
const KEY_TYPES: ReadonlyMap<string, SshKeyType> = new Map<string, SshKeyType>([
  ["RS256", "ssh-rsa"],
  ["RS384", "ssh-rsa"],
  ["RS512", "ssh-rsa"],
  ["PS256", "ssh-rsa"],
  ["PS384", "ssh-rsa"],
  ["PS512", "ssh-rsa"],
  ["ES256", "ecdsa-sha2-nistp256"],
  ["ES384", "ecdsa-sha2-nistp384"],
  ["ES512", "ecdsa-sha2-nistp521"],
  ["EdDSA", "ssh-ed25519"],
  ["Ed25519", "ssh-ed25519"],
]);

/** Unverified token that a user signed. */
interface SshToken extends SignedToken {
  readonly user: string;
  readonly keyType: SshKeyType;
}

/** Parses a client's token and checks all but its signature. @throws {InvalidToken} */
export function readSshToken(
  text: string,
  rules: { readonly now: number; readonly audience: string; readonly maxLifetime: LifetimeLimit },
): SshToken {
  const token = parseSignedToken(text);
  const keyType = KEY_TYPES.get(token.algorithm);
  if (keyType === undefined) throw new InvalidToken("algorithm not accepted");
  const user = textClaim(token, "sub");
  if (textClaim(token, "iss") !== user) throw new InvalidToken("sub and iss differ");
  const delegated = token.claims.get("etd") ?? false;
  if (delegated !== false && String(delegated).toLowerCase() !== "false") {
    throw new InvalidToken("claims to be an issued token");
  }
  checkClaims(token, rules);
  return { ...token, user, keyType };
}
