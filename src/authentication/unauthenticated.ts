import { type ErrorCode, ServiceError } from "../model/service_error.ts";
import type { Authenticator } from "./authenticator.ts";

/** A way to authenticate that a 401 offers. */
export type Challenge = Authenticator["challenges"][number];

/**
 * The caller is nobody we know. One error for every cause (no credentials where some are needed, unknown user, wrong
 * password, unreadable header), so that the response tells them apart for nobody; the log has the reasons.
 */
export class Unauthenticated extends ServiceError {
  readonly code: ErrorCode = "ERR_UNAUTHENTICATED";
  readonly status = 401;
  readonly publicMessage = "Authentication failed";
  override readonly headers: Readonly<Record<string, string>>;

  /**
   * @param options.realm The site's name, shown by browsers when they ask for a password.
   * @param options.challenges What to offer, in this order. RFC 9110, 11.6.1 wants at least one; without any it is
   * `Bearer`, since issued tokens need no configured method.
   */
  constructor(
    { realm, challenges, reason }: { realm: string; challenges: readonly Challenge[]; reason: string },
  ) {
    super(`Not authenticated: ${reason}`);
    this.headers = { "WWW-Authenticate": challengeHeader(realm, challenges) };
  }
}

/** Value of `WWW-Authenticate` that offers these ways, or `Bearer` if there are none. */
export function challengeHeader(realm: string, challenges: readonly Challenge[]): string {
  const offered = challenges.length === 0 ? ["Bearer" as const] : [...new Set(challenges)];
  return offered.map((challenge) => format(challenge, realm)).join(", ");
}

/** RFC 7617 (with `charset`) or RFC 6750, which wants a parameter too. */
function format(challenge: Challenge, realm: string): string {
  const quoted = `"${realm.replace(/[^ -~]/g, "?").replace(/["\\]/g, "\\$&")}"`;
  switch (challenge) {
    case "Basic":
      return `Basic realm=${quoted}, charset="UTF-8"`;
    case "Bearer":
      return `Bearer realm=${quoted}`;
  }
}
