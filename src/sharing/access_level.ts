/**
 * What a share grants, from least to most (rest-api.md 2.2), and apart from these `DROP`: to bring files, and neither see
 * nor change any. `NONE` is only ever asked for: it removes the share.
 */
const ACCESS_LEVELS = ["NONE", "READ", "WRITE", "MODIFY", "DROP"] as const;

/** One of {@link ACCESS_LEVELS}. */
export type AccessLevel = typeof ACCESS_LEVELS[number];

/** A level that a stored share can have. */
export type GrantedLevel = Exclude<AccessLevel, "NONE">;

/** The level by its exact upper-case name, if there is one. */
export function parseAccessLevel(text: string): AccessLevel | undefined {
  return ACCESS_LEVELS.find((level) => level === text);
}

/** Whether `granted` is enough for what is wanted. */
export function grants(granted: AccessLevel, wanted: AccessLevel): boolean {
  if (granted === "DROP" || wanted === "DROP") return granted === wanted || wanted === "NONE";
  return ACCESS_LEVELS.indexOf(wanted) <= ACCESS_LEVELS.indexOf(granted);
}
