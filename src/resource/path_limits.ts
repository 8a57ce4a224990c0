import type { PathLimits } from "../files/path_limits.ts";
import { dependsOnDirectory, isRelativePattern, patternsOf } from "../model/wildcards.ts";
import { httpError, isHttpError } from "../model/http_error.ts";
import { coversAllBelow, mayMatchBelow } from "../files/path_pattern.ts";
import type { AccessPermission } from "../daemon/daemon_group.ts";
import type { Caller, Capability } from "../model/identity.ts";
import { grantedScope } from "../files/session_scope.ts";

/**
 * Returns the limits that apply to a session. Daemons read relative patterns from the start of the session and drop a
 * session with a pattern outside it (daemon-protocol.md 4), and users choose the start. So relative patterns require the
 * home directory (from `/`, `.ssh/*` would protect nothing), and absolute ones are dropped or rewritten.
 * @param file Start, with its last slash; empty is the home directory, which a session may leave.
 * @throws {ERR_LIMITS_FROM_HOME | ERR_OUTSIDE_LIMITS}
 */
export function limitsWithin(file: string, { includes, excludes }: PathLimits): PathLimits {
  if (file === "") return { includes: everywhere(includes), excludes: everywhere(excludes) };
  if (file === "./") return { includes, excludes };
  const allowed = includes === undefined ? undefined : concerning(patternsOf(includes), file);
  const forbidden = excludes === undefined ? [] : concerning(patternsOf(excludes), file);
  if (allowed?.length === 0 || forbidden.includes(ALL)) throw httpError("ERR_OUTSIDE_LIMITS");
  return { includes: allowed?.join(":"), excludes: forbidden.length === 0 ? undefined : forbidden.join(":") };
}

const ALL = "*";

/** Makes suffix patterns (`*.txt`) apply outside the home directory, too. */
function everywhere(list: string | undefined): string | undefined {
  return list &&
    patternsOf(list).map((pattern) =>
      isRelativePattern(pattern) && !dependsOnDirectory(pattern) ? `/${pattern}` : pattern
    ).join(":");
}

function concerning(patterns: readonly string[], file: string): string[] {
  return patterns.flatMap((pattern) => {
    if (dependsOnDirectory(pattern)) throw httpError("ERR_LIMITS_FROM_HOME");
    if (!isPlain(file) || !isPlain(pattern) || pattern.startsWith(file)) return pattern;
    if (coversAllBelow(pattern, file)) return ALL;
    return mayMatchBelow(pattern, file) ? pattern : [];
  });
}

/** Reports whether a path is absolute, without `.`, `..` and empty segments, so that its location is certain. */
function isPlain(path: string): boolean {
  return path.startsWith("/") && !/\/(?:\.{0,2})(?:\/|$)/.test(path.replace(/\/$/, ""));
}

/** Returns the capabilities that limit the caller's login; `undefined` if unlimited. */
export function capabilitiesOf(caller: Caller): readonly Capability[] | undefined {
  return caller.kind === "anonymous" ? undefined : caller.identity.capabilities;
}

/**
 * Confines a session to the token's capabilities and the account's limits. It starts in a directory that the token
 * permits as a whole: daemons check all commands against the start, but only some against patterns
 * (daemon-protocol.md 4). @throws {ERR_OUTSIDE_CAPABILITIES | ERR_LIMITS_FROM_HOME | ERR_OUTSIDE_LIMITS}
 */
export function scopeWithin(
  capabilities: readonly Capability[],
  file: string,
  { includes: own, excludes: forbidden }: PathLimits,
): PathLimits & { readonly permission: AccessPermission } {
  const permitted = capabilities.filter(({ path }) =>
    file.startsWith(path) && file.endsWith("/") && isPlain(file)
  );
  if (permitted.length === 0) {
    throw httpError("ERR_OUTSIDE_CAPABILITIES", "the directory is in none of its paths");
  }
  const permission = permitted.some(({ access }) => access === "all") ? "FULL" : "READ";
  try {
    const { excludes } = limitsWithin(file, { includes: own, excludes: forbidden });
    const { includes } = grantedScope(file, [{ includes: own }]);
    return { permission, includes, excludes };
  } catch (error) {
    if (!isHttpError(error, "ERR_SCOPE_NOT_EXPRESSIBLE")) throw error;
    throw httpError("ERR_OUTSIDE_CAPABILITIES", error.message, error);
  }
}
