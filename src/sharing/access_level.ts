/**
 * Access that a share grants, in increasing order (rest-api.md 2.2); `DROP` stands apart and permits uploads only. `NONE` in
 * a request removes the share.
 */
const ACCESS_LEVELS = ["NONE", "READ", "WRITE", "MODIFY", "DROP"] as const;

/** Member of {@link ACCESS_LEVELS}. */
export type AccessLevel = typeof ACCESS_LEVELS[number];

/** Access of a stored share. */
export type GrantedLevel = Exclude<AccessLevel, "NONE">;

/** Parses the exact upper-case name. */
export function parseAccessLevel(text: string): AccessLevel | undefined {
  return ACCESS_LEVELS.find((level) => level === text);
}

/** Reports whether `granted` includes `wanted`. */
export function grants(granted: AccessLevel, wanted: AccessLevel): boolean {
  if (granted === "DROP" || wanted === "DROP") return granted === wanted || wanted === "NONE";
  return ACCESS_LEVELS.indexOf(wanted) <= ACCESS_LEVELS.indexOf(granted);
}
