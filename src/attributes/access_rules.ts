/** Services with access rules. */
export type AccessService = "auth" | "share" | "access" | "admin";

interface Rule {
  readonly service: AccessService;
  readonly methods: readonly string[] | "all";
  readonly role: string | "everybody";
}

/** Permissions (authentication.md 8.2; rest-api.md 1.7, right column). `banned` may do nothing, `admin` everything. */
const RULES: readonly Rule[] = [
  { service: "access", methods: ["GET", "HEAD", "PUT", "POST"], role: "everybody" },
  { service: "auth", methods: ["GET", "HEAD"], role: "everybody" },
  { service: "auth", methods: "all", role: "user" },
  { service: "share", methods: "all", role: "user" },
  { service: "access", methods: "all", role: "user" },
];

/** Roles with a meaning; others have the rights of everybody. */
export const ROLES: readonly string[] = ["user", "admin", "banned", "anonymous"];

/** Reports whether a role may use a service; `access` also asks the share. @param method In upper case. */
export function mayAccess(service: AccessService, method: string, role: string): boolean {
  if (role === "banned") return false;
  if (role === "admin") return true;
  return RULES.some((rule) =>
    rule.service === service &&
    (rule.methods === "all" || rule.methods.includes(method)) &&
    (rule.role === "everybody" || rule.role === role)
  );
}

/** Returns the lesser of a token's role at issue and its user's current one. */
export function lowerRole(then: string, now: string): string {
  return now === "admin" ? then : now;
}
