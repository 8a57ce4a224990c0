import type { AccessPermission } from "../daemon/daemon_group.ts";
import type { Caller, Capability } from "../model/identity.ts";
import { httpError, isHttpError } from "../model/http_error.ts";
import { grantedScope } from "../files/session_scope.ts";
import type { PathLimits } from "../files/path_limits.ts";
import { limitsWithin } from "./path_limits.ts";

interface CapabilityScope extends PathLimits {
  readonly permission: AccessPermission;
}

/** Returns the capabilities that limit the caller's login; `undefined` if unlimited. */
export function capabilitiesOf(caller: Caller): readonly Capability[] | undefined {
  return caller.kind === "anonymous" ? undefined : caller.identity.capabilities;
}

/**
 * Confines a session to the token's capabilities and the account's limits. It starts in a directory that the token permits
 * as a whole: daemons check all commands against the start, but only some against patterns (daemon-protocol.md 4).
 * @param file Start, with its last slash; empty is the home directory.
 * @throws {ERR_OUTSIDE_CAPABILITIES | ERR_LIMITS_FROM_HOME | ERR_OUTSIDE_LIMITS}
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

/** Reports whether the directory has its only spelling, so that its location is certain. */
function isPlain(file: string): boolean {
  return file.startsWith("/") && file.endsWith("/") && !/\/(?:\.{0,2})\//.test(file);
}
