/** Parsed request target (RFC 9112, 3.2.1). */
export interface RequestTarget {
  readonly path: string; // begins with a slash; percent-encodings unchanged
  readonly query: string; // text after the first `?`
}

/**
 * Parses a target in origin form, once for edge and router, so that both mean the same resource. Returns `undefined`
 * for targets that a proxy, URL parser or file system could read differently: dot segments (also encoded), backslashes,
 * inner empty segments, fragments and invalid characters.
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
