import type { Authenticator } from "./authenticator.ts";

/** A way to authenticate that a 401 offers. */
export type Challenge = Authenticator["challenges"][number];

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
