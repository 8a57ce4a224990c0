/** The patterns of a list as daemons read it: separated by `:`, without blanks at the ends, empty ones left out. */
export function patternsOf(list: string): readonly string[] {
  return list.split(":").map((pattern) => pattern.trim()).filter((pattern) => pattern !== "");
}

/** Whether daemons count a pattern from the directory in which a session begins, and not from the root. */
export function isRelativePattern(pattern: string): boolean {
  return !pattern.startsWith("/");
}

/**
 * Whether a pattern means something else where a session begins elsewhere. Not so absolute ones, and those that speak of
 * the end of a path alone, such as `*.txt`.
 */
export function movesWithStart(pattern: string): boolean {
  return isRelativePattern(pattern) && !/^\*[^*?[/]*$/.test(pattern);
}
