import { patternsOf } from "../../model/wildcards.ts";
import { withoutSlash } from "../../model/absolute_path.ts";
import { coversAllBelow, matchesPattern, mayMatchBelow } from "./path_pattern.ts";

/** Path patterns of an owner's attributes `includes` and `excludes`, checked at creation and at each use (D20). */
export interface OwnerLimits {
  readonly includes?: string;
  readonly excludes?: string;
}

/**
 * Reports whether the owner may reach a path; a directory passes if something below may match. To share less in doubt,
 * relative excludes apply at every depth and relative includes from the root.
 */
export function withinLimits({ includes, excludes }: OwnerLimits, path: string): boolean {
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
export function withinAll(limits: readonly OwnerLimits[], path: string): boolean {
  return limits.every((each) => withinLimits(each, path));
}

/** Returns absolute include patterns; empty includes everything. */
export function includePatterns(text: string | undefined): readonly string[] {
  return split(text).map((pattern) => withoutSlash(pattern.startsWith("/") ? pattern : `/${pattern}`));
}

/** Returns exclude patterns; relative ones for every depth. */
export function excludePatterns(text: string | undefined): readonly string[] {
  return split(text).flatMap((pattern) => {
    const bare = withoutSlash(pattern);
    return bare.startsWith("/") ? [bare] : [`/${bare}`, `*/${bare}`];
  });
}

function split(text = ""): string[] {
  return patternsOf(text).map((pattern) => pattern.replace(/^\.\//, "")).filter((pattern) => pattern !== "");
}
