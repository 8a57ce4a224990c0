import type { Authorization } from "../model/credentials.ts";

/** Returns the unverified user of credentials: user name, token subject, or a digest of the token. */
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
