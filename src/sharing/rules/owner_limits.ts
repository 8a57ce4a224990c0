import { patternsOf } from "../../model/pattern_list.ts";
import { withoutSlash } from "../../model/absolute_path.ts";
import { coversAllBelow, matchesPattern, mayMatchBelow } from "./path_pattern.ts";

/**
 * Path patterns, separated by `:`, that limit what an owner may reach and therefore may share: attributes
 * `<daemon>.<server>.includes` and `excludes`. They hold when a share is made and each time it is used (D20).
 */
export interface OwnerLimits {
  readonly includes?: string;
  readonly excludes?: string;
}

/**
 * Whether the owner may reach a path. A directory, which ends in a slash, is also within the limits if something below
 * it may be; what is below is asked about path by path.
 *
 * The daemon reads a relative pattern from the directory where a session starts, which a share does not have. Here a
 * relative exclude holds at every depth, and a relative include from the root: when in doubt, less is shared.
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

/** Whether a path is within several limits at once, such as those of then and those of now. */
export function withinAll(limits: readonly OwnerLimits[], path: string): boolean {
  return limits.every((each) => withinLimits(each, path));
}

/** The include patterns, each absolute; none means that everything is included. */
export function includePatterns(text: string | undefined): readonly string[] {
  return split(text).map((pattern) => withoutSlash(pattern.startsWith("/") ? pattern : `/${pattern}`));
}

/** The exclude patterns; relative ones for every depth. */
export function excludePatterns(text: string | undefined): readonly string[] {
  return split(text).flatMap((pattern) => {
    const bare = withoutSlash(pattern);
    return bare.startsWith("/") ? [bare] : [`/${bare}`, `*/${bare}`];
  });
}

function split(text = ""): string[] {
  return patternsOf(text).map((pattern) => pattern.replace(/^\.\//, "")).filter((pattern) => pattern !== "");
}
