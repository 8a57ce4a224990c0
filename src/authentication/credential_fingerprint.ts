import { createHmac } from "node:crypto";

/** Returns an HMAC keyed by the credential itself, so nobody can guess from it; `parts` keep uses apart. */
export function credentialFingerprint(credential: string, ...parts: readonly string[]): string {
  return createHmac("sha256", credential).update(JSON.stringify(parts)).digest("base64url").slice(0, 22);
}
