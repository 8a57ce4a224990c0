import { isRelativePattern, patternsOf } from "../model/pattern_list.ts";

/**
 * Whether the daemon would take a list of patterns for a session with this base directory. A pattern whose normalised
 * text does not begin with the base makes it accept the session and drop it at the first command, so such a list is
 * better refused; so is one without any pattern, which the daemon takes for no restriction (daemon-protocol.md 4).
 * @param patterns Separated by `:`.
 * @param base Ends in `/`, or is empty for none. Relative to a home directory that is not known here: an absolute
 *   pattern then passes.
 */
export function patternsLieInside(patterns: string, base: string): boolean {
  const list = patternsOf(patterns);
  if (list.length === 0) return false;
  if (base === "") return true;
  const root = normalise(base, []);
  return list.every((pattern) => {
    if (!isRelativePattern(pattern) && !base.startsWith("/")) return true;
    const full = pattern.startsWith("/") ? normalise(pattern, []) : normalise(pattern, root);
    // Not segment by segment: the daemon compares texts, and `/data/a*` is a fair pattern below `/data/a/`.
    return full !== undefined && root !== undefined && full.join("/").startsWith(root.join("/"));
  });
}

/** Segments without `.` and `..`, behind those given; `undefined` if it climbs out of where it begins. */
function normalise(path: string, from: readonly string[] | undefined): readonly string[] | undefined {
  const segments = [...from ?? []];
  for (const segment of path.split("/")) {
    if (segment === "" || segment === ".") continue;
    if (segment !== "..") segments.push(segment);
    else if (segments.pop() === undefined && !path.startsWith("/")) return undefined;
  }
  return segments;
}
