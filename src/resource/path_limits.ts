import { movesWithStart, patternsOf } from "../model/pattern_list.ts";
import { httpError } from "../model/http_error.ts";
import type { PathLimits } from "../files/path_limits.ts";
import { coversAllBelow, mayMatchBelow } from "../files/path_pattern.ts";

/**
 * Returns the limits that apply to a session. Daemons read relative patterns from the start of the session and drop a
 * session with a pattern outside it (daemon-protocol.md 4), and users choose the start. So relative patterns require the
 * home directory (from `/`, `.ssh/*` would protect nothing), and absolute patterns are dropped or rewritten relative to the
 * start.
 * @param file Start, with its last slash; empty is the home directory.
 * @throws {ERR_LIMITS_FROM_HOME | ERR_OUTSIDE_LIMITS}
 */
export function limitsWithin(file: string, { includes, excludes }: PathLimits): PathLimits {
  if (file === "" || file === "./") return { includes, excludes };
  const allowed = includes === undefined ? undefined : concerning(patternsOf(includes), file);
  const forbidden = excludes === undefined ? [] : concerning(patternsOf(excludes), file);
  if (allowed?.length === 0 || forbidden.includes(ALL)) throw httpError("ERR_OUTSIDE_LIMITS");
  return { includes: allowed?.join(":"), excludes: forbidden.length === 0 ? undefined : forbidden.join(":") };
}

const ALL = "*";

function concerning(patterns: readonly string[], file: string): string[] {
  return patterns.flatMap((pattern) => {
    if (movesWithStart(pattern)) throw httpError("ERR_LIMITS_FROM_HOME");
    if (!isPlain(file) || !isPlain(pattern) || pattern.startsWith(file)) return pattern;
    if (coversAllBelow(pattern, file)) return ALL;
    return mayMatchBelow(pattern, file) ? pattern : [];
  });
}

/** Reports whether a path is absolute, without `.`, `..` and empty segments. */
function isPlain(path: string): boolean {
  return path.startsWith("/") && !/\/(?:\.{0,2})(?:\/|$)/.test(path.replace(/\/$/, ""));
}
