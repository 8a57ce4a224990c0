/** Splits a list as daemons do: by `:`, trimmed, without empty patterns. */
export function patternsOf(list: string): readonly string[] {
  return list.split(":").map((pattern) => pattern.trim()).filter((pattern) => pattern !== "");
}

/** Reports whether daemons resolve a pattern from the session's directory instead of the root. */
export function isRelativePattern(pattern: string): boolean {
  return !pattern.startsWith("/");
}

/** Reports whether a pattern's meaning depends on the session's directory; `*.txt` and absolute patterns do not. */
export function movesWithStart(pattern: string): boolean {
  return isRelativePattern(pattern) && !/^\*[^*?[/]*$/.test(pattern);
}
