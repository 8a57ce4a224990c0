/** The patterns of a list as daemons read it: separated by `:`, without blanks at the ends, empty ones left out. */
export function patternsOf(list: string): readonly string[] {
  return list.split(":").map((pattern) => pattern.trim()).filter((pattern) => pattern !== "");
}

/** Whether daemons count a pattern from the directory in which a session begins, and not from the root. */
export function isRelativePattern(pattern: string): boolean {
  return !pattern.startsWith("/");
}
