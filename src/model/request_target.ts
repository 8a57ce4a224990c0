/** The target of a request (RFC 9112, 3.2.1), taken apart. */
export interface RequestTarget {
  /** Begins with a slash; percent-encodings as they came. */
  readonly path: string;
  /** What follows the first `?`; empty if there is none. */
  readonly query: string;
}

/**
 * Reads a target in origin form. This is the one place that says what a path is: the edge turns away what has none, and
 * the router sees what was found here, so that the two can never mean different resources. Refused is every target that
 * a proxy, a URL parser or a file system would take for another one: dot segments, plain or encoded, backslashes, empty
 * segments but the last one, fragments, and what a target cannot hold at all.
 * @returns `undefined` if it is refused.
 */
export function readTarget(target: string): RequestTarget | undefined {
  if (!/^\/[!-~]*$/.test(target) || target.includes("#")) return undefined;
  const mark = target.indexOf("?");
  const path = mark === -1 ? target : target.slice(0, mark);
  if (path.includes("\\") || path.includes("//") || hasDotSegment(path)) return undefined;
  return { path, query: mark === -1 ? "" : target.slice(mark + 1) };
}

function hasDotSegment(path: string): boolean {
  return /\/(?:\.|%2e){1,2}(?:\/|$)/i.test(path);
}
