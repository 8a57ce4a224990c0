import type { AccessPermission } from "../daemon/daemon_group.ts";
import type { Caller, Capability } from "../model/identity.ts";
import { httpError, isHttpError } from "../model/http_error.ts";
import { grantedScope } from "../sharing/rules/session_scope.ts";
import { limitsWithin, type PathLimits } from "./path_limits.ts";

/** What a session may do, and where. */
interface CapabilityScope extends PathLimits {
  readonly permission: AccessPermission;
}

/** What the login of a caller is limited to; `undefined` if it is not. */
export function capabilitiesOf(caller: Caller): readonly Capability[] | undefined {
  return caller.kind === "anonymous" ? undefined : caller.identity.capabilities;
}

/**
 * A session within what a token permits and within the account's own limits. It begins in a directory that the token
 * permits as a whole: daemons hold all commands against where a session begins, and patterns against some of them only
 * (daemon-protocol.md 4).
 * @param file Where the session is to begin, with its last slash; empty is the home directory.
 * @throws {ERR_OUTSIDE_CAPABILITIES} If the token does not permit it, or no daemon could enforce it. {ERR_LIMITS_FROM_HOME |
 * ERR_OUTSIDE_LIMITS} As for sessions without such a token.
 */
export function scopeWithin(
  capabilities: readonly Capability[],
  file: string,
  { includes: own, excludes: forbidden }: PathLimits,
): CapabilityScope {
  const permitted = capabilities.filter(({ path }) => file.startsWith(path) && isPlain(file));
  if (permitted.length === 0) {
    throw httpError("ERR_OUTSIDE_CAPABILITIES", "the directory is in none of its paths");
  }
  const permission = permitted.some(({ access }) => access === "all") ? "FULL" : "READ";
  try {
    const { includes } = grantedScope(file, [{ includes: own }]);
    const { excludes } = limitsWithin(file, { excludes: forbidden });
    return { permission, includes, excludes };
  } catch (error) {
    if (!isHttpError(error, "ERR_SCOPE_NOT_EXPRESSIBLE")) throw error;
    throw httpError("ERR_OUTSIDE_CAPABILITIES", error.message, error);
  }
}

/** Whether a directory is written in one way only, so that where it lies can be told. */
function isPlain(file: string): boolean {
  return file.startsWith("/") && file.endsWith("/") && !/\/(?:\.{0,2})\//.test(file);
}
