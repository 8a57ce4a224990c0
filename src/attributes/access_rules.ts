/** Services that access rules speak of. */
export type AccessService = "auth" | "share" | "access" | "admin";

/** One permission: these methods of the service, for everybody or for a role. */
interface Rule {
  readonly service: AccessService;
  readonly methods: readonly string[] | "all";
  readonly role: string | "everybody";
}

/**
 * Who may do what (authentication.md 8.2; rest-api.md 1.7, right column). `banned` and `admin` come before: the one may
 * nothing at all, the other everything. What no rule permits is forbidden.
 */
const RULES: readonly Rule[] = [
  { service: "access", methods: ["GET", "HEAD", "PUT", "POST"], role: "everybody" },
  { service: "auth", methods: ["GET", "HEAD"], role: "everybody" },
  { service: "auth", methods: "all", role: "user" },
  { service: "share", methods: "all", role: "user" },
  { service: "access", methods: "all", role: "user" },
];

/** The roles that have a meaning; whoever has another may do what everybody may. */
export const ROLES: readonly string[] = ["user", "admin", "banned", "anonymous"];

/**
 * Whether a caller may use a service, as far as roles decide; `access` goes on to ask the share.
 * @param method HTTP method in upper case.
 * @param role The caller's selected role, compared with case; `anonymous` without credentials.
 */
export function mayAccess(service: AccessService, method: string, role: string): boolean {
  if (role === "banned") return false;
  if (role === "admin") return true;
  return RULES.some((rule) =>
    rule.service === service &&
    (rule.methods === "all" || rule.methods.includes(method)) &&
    (rule.role === "everybody" || rule.role === role)
  );
}

/** The role that gives less: a token's from when it was made, or its user's of now. Only `admin` is above others. */
export function lowerRole(then: string, now: string): string {
  return now === "admin" ? then : now;
}
