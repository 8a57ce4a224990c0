import { isRelativePattern, movesWithStart, patternsOf } from "../model/pattern_list.ts";
import { httpError } from "../model/http_error.ts";
import { coversAllBelow, mayMatchBelow } from "../sharing/rules/path_pattern.ts";

/** Patterns that limit the paths of a session, separated by `:`; absent: no limit. */
export interface PathLimits {
  readonly includes?: string;
  readonly excludes?: string;
}

/**
 * What of a user's limits concerns a session. Daemons read a pattern without a leading slash from where the session
 * begins, and drop a session with a pattern that lies elsewhere (daemon-protocol.md 4). Where it begins is the user's
 * choice, so that
 * - patterns that would mean something else there are for sessions from the home directory only: beginning in `/`,
 *   nobody would be kept from `.ssh/*` any more;
 * - patterns that cannot match anything there are left out, and those that match all of it are put in terms of it.
 * @param file Where the session begins, with its last slash; empty is the home directory.
 * @throws {ERR_LIMITS_FROM_HOME | ERR_OUTSIDE_LIMITS}
 */
export function limitsWithin(file: string, { includes, excludes }: PathLimits): PathLimits {
  if (file === "" || file === "./") return both(includes, excludes);
  const allowed = includes === undefined ? undefined : concerning(patternsOf(includes), file);
  const forbidden = excludes === undefined ? [] : concerning(patternsOf(excludes), file);
  if (allowed?.length === 0 || forbidden.includes(ALL)) throw httpError("ERR_OUTSIDE_LIMITS");
  return both(allowed?.join(":"), forbidden.length === 0 ? undefined : forbidden.join(":"));
}

/** All below the directory in which a session begins. */
const ALL = "*";

function concerning(patterns: readonly string[], file: string): string[] {
  return patterns.flatMap((pattern) => {
    if (movesWithStart(pattern)) throw httpError("ERR_LIMITS_FROM_HOME");
    if (isRelativePattern(pattern)) return pattern;
    if (!isPlain(file) || !isPlain(pattern) || pattern.startsWith(file)) return pattern;
    if (coversAllBelow(pattern, file)) return ALL;
    return mayMatchBelow(pattern, file) ? pattern : [];
  });
}

/** Whether a text is an absolute path that says where it is: without `.`, `..` and empty segments. */
function isPlain(path: string): boolean {
  return path.startsWith("/") && !/\/(?:\.{0,2})(?:\/|$)/.test(path.replace(/\/$/, ""));
}

function both(includes: string | undefined, excludes: string | undefined): PathLimits {
  return { includes, excludes };
}
