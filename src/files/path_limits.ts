import { dependsOnDirectory, patternsOf } from "../model/wildcards.ts";
import { withoutSlash } from "../model/absolute_path.ts";
import { coversAllBelow, matchesPattern, mayMatchBelow } from "./path_pattern.ts";

/**
 * Patterns, separated by `:`, of the paths that an account may reach; absent: all. Attributes `<daemon>.<server>.includes`
 * and `excludes`; shares check them at creation and at each use (D20).
 */
export interface PathLimits {
  readonly includes?: string;
  readonly excludes?: string;
}

/**
 * Reports whether the owner may reach a path; a directory passes if a path below may match. Relative patterns start
 * at a home directory that is unknown here: relative excludes apply at every depth, relative includes never.
 */
export function withinLimits({ includes, excludes }: PathLimits, path: string): boolean {
  const directory = path.endsWith("/");
  const bare = withoutSlash(path);
  const excluded = excludePatterns(excludes).some((pattern) =>
    matchesPattern(pattern, bare) || (directory && coversAllBelow(pattern, path))
  );
  if (excluded) return false;
  const included = includePatterns(includes);
  return included.length === 0 ||
    included.some((pattern) => matchesPattern(pattern, bare) || (directory && mayMatchBelow(pattern, path)));
}

/** Reports whether a path is within all limits. */
export function withinAll(limits: readonly PathLimits[], path: string): boolean {
  return limits.every((each) => withinLimits(each, path));
}

/** Returns absolute include patterns; no pattern includes everything. The empty pattern matches nothing. */
export function includePatterns(text = ""): readonly string[] {
  return patternsOf(text).map((pattern) =>
    dependsOnDirectory(pattern) ? "" : withoutSlash(pattern.startsWith("/") ? pattern : `/${pattern}`)
  );
}

/** Returns exclude patterns, relative ones for every depth. */
export function excludePatterns(text = ""): readonly string[] {
  return patternsOf(text).flatMap((pattern) => {
    const bare = withoutSlash(pattern.replace(/^\.\//, ""));
    if (bare === "") return [];
    return bare.startsWith("/") ? [bare] : [`/${bare}`, `*/${bare}`];
  });
}

/** Reports whether limits permit a directory (with its last slash) with everything that is, or will be, below it. */
export function coversTree({ includes, excludes }: PathLimits, directory: string): boolean {
  const included = includePatterns(includes);
  return withinLimits({ includes, excludes }, directory) &&
    (included.length === 0 || included.some((pattern) => coversAllBelow(pattern, directory))) &&
    !excludePatterns(excludes).some((pattern) => mayMatchBelow(pattern, directory));
}
