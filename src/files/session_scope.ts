import type { SessionScope } from "../daemon/session/session_client.ts";
import { nameOf, parentOf, protectEnd } from "../model/absolute_path.ts";
import { httpError } from "../model/http_error.ts";
import { excludePatterns, includePatterns, type PathLimits } from "./path_limits.ts";
import {
  commonPatterns,
  coversAllBelow,
  escapePattern,
  hasWildcards,
  mayMatchBelow,
  staysBelow,
} from "./path_pattern.ts";

/**
 * Returns the narrowest session in which the service itself opens one path. Widens it where patterns cannot express it:
 * a `:` becomes `?`; for a directory with pattern characters, it begins at a plain ancestor (daemon-protocol.md 4).
 */
export function mediatedScope(path: string): SessionScope {
  let file = path.endsWith("/") ? path : parentOf(path);
  while (hasWildcards(file) || file.includes(":")) file = parentOf(file);
  const pattern = escapePattern(path).replaceAll(":", "?") + (path.endsWith("/") ? "*" : "");
  return { file, includes: protectEnd(pattern) };
}

/**
 * Returns the session for a client of a shared path (D8), within the owner's limits. A directory is both base and
 * pattern: the daemon compares the base as a text prefix, so base `/d/` alone would admit `/d2`.
 * @throws {ERR_SCOPE_NOT_EXPRESSIBLE} If no session can be confined to exactly that.
 */
export function grantedScope(path: string, limits: readonly PathLimits[]): SessionScope {
  const directory = path.endsWith("/");
  const file = directory ? path : parentOf(path);
  if (hasWildcards(file)) {
    throw httpError("ERR_SCOPE_NOT_EXPRESSIBLE", "wildcard characters in the base directory");
  }
  if (!directory) {
    const name = nameOf(path);
    if (name.includes(":")) throw httpError("ERR_SCOPE_NOT_EXPRESSIBLE", "colon in a file name");
    // The daemon prepends the base to a relative pattern after splitting at colons.
    const escaped = file.includes(":") ? escapePattern(name) : escapePattern(path);
    if (escaped.trimStart() !== escaped) {
      throw httpError("ERR_SCOPE_NOT_EXPRESSIBLE", "name with leading blanks below a colon");
    }
    return { file, includes: protectEnd(escaped) };
  }
  const includes = includesWithin(path, limits);
  const excludes = excludesWithin(path, limits);
  return excludes === "" ? { file, includes } : { file, includes, excludes };
}

function includesWithin(directory: string, limits: readonly PathLimits[]): string {
  const [first, ...others] = limits.map(({ includes }) => narrowing(directory, includePatterns(includes)))
    .filter((patterns) => patterns !== undefined);
  if (first === undefined) return directory.includes(":") ? "*" : `${directory}*`;
  const patterns = others.reduce(common, first);
  if (patterns.length === 0) {
    throw httpError("ERR_SCOPE_NOT_EXPRESSIBLE", "the owner's includes leave nothing of it");
  }
  return patterns.join(":");
}

function narrowing(directory: string, patterns: readonly string[]): readonly string[] | undefined {
  const relevant = patterns.filter((pattern) => mayMatchBelow(pattern, directory));
  if (patterns.length === 0 || relevant.some((pattern) => coversAllBelow(pattern, directory))) {
    return undefined;
  }
  if (relevant.length === 0 || !relevant.every((pattern) => staysBelow(pattern, directory))) {
    throw httpError("ERR_SCOPE_NOT_EXPRESSIBLE", "the owner's includes cut across the shared directory");
  }
  return relevant;
}

function common(these: readonly string[], those: readonly string[]): readonly string[] {
  const patterns = these.flatMap((pattern) =>
    those.flatMap((other) => {
      const both = commonPatterns(pattern, other);
      if (both === undefined) {
        throw httpError("ERR_SCOPE_NOT_EXPRESSIBLE", "the owner's includes of then and now cross");
      }
      return both;
    })
  );
  return [...new Set(patterns)];
}

function excludesWithin(directory: string, limits: readonly PathLimits[]): string {
  const patterns = new Set(limits.flatMap(({ excludes }) => excludePatterns(excludes)));
  const relevant = [...patterns].filter((pattern) => mayMatchBelow(pattern, directory));
  if (!relevant.every((pattern) => staysBelow(pattern, directory))) {
    throw httpError("ERR_SCOPE_NOT_EXPRESSIBLE", "the owner's excludes cut across the shared directory");
  }
  return relevant.join(":");
}
