import { createHmac } from "node:crypto";

/**
 * Names a credential, so that what was derived from it can be told to be of this very one. The credential itself is the key:
 * nobody learns from the name what they could guess at, and it needs no secret that could get lost.
 * @param parts Its owner, for example; other parts, other names.
 */
export function credentialFingerprint(credential: string, ...parts: readonly string[]): string {
  return createHmac("sha256", credential).update(JSON.stringify(parts)).digest("base64url").slice(0, 22);
}
