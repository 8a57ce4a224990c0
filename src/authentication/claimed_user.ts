import type { Authorization } from "../model/credentials.ts";

/**
 * Whose credentials claim to be, nothing of it verified: a user name, the subject of a token, or of a token that names
 * nobody a digest. `undefined` if they claim nothing.
 */
export function claimedUser(authorization: Authorization): string | undefined {
  switch (authorization.kind) {
    case "basic":
    case "ssh-legacy":
      return authorization.user;
    case "bearer":
      return authorization.subject ?? authorization.claimant;
    default:
      return undefined;
  }
}
