export type AccessService = "auth" | "share" | "access" | "admin";

/**
 * Methods for everybody (credentials.md 8.2; rest-api.md 1.7, right column). Users may use all methods of these services,
 * `banned` may do nothing, `admin` everything.
 */
const PUBLIC_METHODS: ReadonlyMap<AccessService, readonly string[]> = new Map([
  ["access", ["GET", "HEAD", "PUT", "POST"]],
  ["auth", ["GET", "HEAD"]],
  ["share", []],
]);

/** Roles with a meaning; others have the rights of everybody. */
export const ROLES: readonly string[] = ["user", "admin", "banned", "anonymous"];

/** Reports whether a role may use a service; for `access` the share decides too. @param method In upper case. */
export function mayAccess(service: AccessService, method: string, role: string): boolean {
  if (role === "banned") return false;
  if (role === "admin") return true;
  const methods = PUBLIC_METHODS.get(service);
  return methods !== undefined && (role === "user" || methods.includes(method));
}

/** Returns the lesser of a token's role at issue and its user's current one. */
export function lowerRole(then: string, now: string): string {
  return now === "admin" ? then : now;
}
