import { createHmac } from "node:crypto";

/**
 * Returns an HMAC fingerprint keyed by the credential itself: nobody can guess from it, and no further secret can get
 * lost.
 * @param parts Such as the owner; different parts give different fingerprints.
 */
export function credentialFingerprint(credential: string, ...parts: readonly string[]): string {
  return createHmac("sha256", credential).update(JSON.stringify(parts)).digest("base64url").slice(0, 22);
}
