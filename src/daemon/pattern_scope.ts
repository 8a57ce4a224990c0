import { isRelativePattern, patternsOf } from "../model/pattern_list.ts";

/**
 * Reports whether all patterns lie below the base directory. Otherwise the daemon accepts the session and drops it at
 * the first command; an empty list would mean no restriction (daemon-protocol.md 4).
 * @param patterns Separated by `:`.
 * @param base Ends in `/`; empty for none. Relative bases are below an unknown home: absolute patterns pass then.
 */
export function patternsLieInside(patterns: string, base: string): boolean {
  const list = patternsOf(patterns);
  if (list.length === 0) return false;
  if (base === "") return true;
  const root = normalise(base, []);
  return list.every((pattern) => {
    if (!isRelativePattern(pattern) && !base.startsWith("/")) return true;
    const full = pattern.startsWith("/") ? normalise(pattern, []) : normalise(pattern, root);
    // The daemon compares texts, not segments: `/data/a*` is valid below `/data/a/`.
    return full !== undefined && root !== undefined && full.join("/").startsWith(root.join("/"));
  });
}

/** Resolves `.` and `..`; `undefined` above the start. */
function normalise(path: string, from: readonly string[] | undefined): readonly string[] | undefined {
  const segments = [...from ?? []];
  for (const segment of path.split("/")) {
    if (segment === "" || segment === ".") continue;
    if (segment !== "..") segments.push(segment);
    else if (segments.pop() === undefined && !path.startsWith("/")) return undefined;
  }
  return segments;
}
