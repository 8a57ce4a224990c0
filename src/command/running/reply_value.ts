/**
 * Reads answers of a service that may be of another version than this command: whatever is not there, or not of the kind
 * expected, is `undefined`.
 */
export function member(value: unknown, ...path: readonly string[]): unknown {
  let at = value;
  for (const name of path) {
    if (typeof at !== "object" || at === null || !Object.hasOwn(at, name)) return undefined;
    at = Object.entries(at).find(([key]) => key === name)?.[1];
  }
  return at;
}

/** The text at a path of members; `undefined` if there is none. */
export function textAt(value: unknown, ...path: readonly string[]): string | undefined {
  const found = member(value, ...path);
  return typeof found === "string" ? found : undefined;
}

/** The number at a path of members; `undefined` if there is none. */
export function numberAt(value: unknown, ...path: readonly string[]): number | undefined {
  const found = member(value, ...path);
  return typeof found === "number" ? found : undefined;
}

/** The list at a path of members; empty if there is none. */
export function listAt(value: unknown, ...path: readonly string[]): readonly unknown[] {
  const found = member(value, ...path);
  return Array.isArray(found) ? found : [];
}
