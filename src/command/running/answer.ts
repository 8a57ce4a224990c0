import { textTable } from "../command.ts";

/** Returns the member at a path. The service may have another version: members that are absent are `undefined`. */
export function member(value: unknown, ...path: readonly string[]): unknown {
  let at = value;
  for (const name of path) {
    if (typeof at !== "object" || at === null || !Object.hasOwn(at, name)) return undefined;
    at = Object.entries(at).find(([key]) => key === name)?.[1];
  }
  return at;
}

/** Returns the text at a path of members; `undefined` if there is none. */
export function textAt(value: unknown, ...path: readonly string[]): string | undefined {
  const found = member(value, ...path);
  return typeof found === "string" ? found : undefined;
}

/** Returns the number at a path of members; `undefined` if there is none. */
export function numberAt(value: unknown, ...path: readonly string[]): number | undefined {
  const found = member(value, ...path);
  return typeof found === "number" ? found : undefined;
}

/** Returns the list at a path of members; empty if there is none. */
export function listAt(value: unknown, ...path: readonly string[]): readonly unknown[] {
  const found = member(value, ...path);
  return Array.isArray(found) ? found : [];
}

/** Returns the warning that a name is unknown, and a known one has its parts in reverse order. */
export function reversedWarning(answer: unknown, consequence: string): readonly string[] {
  const reversed = textAt(answer, "reversed");
  return reversed === undefined ? [] : [
    "this user is unknown. A user with the same name parts in reverse order exists, " +
    `which is another name and ${consequence}: ${reversed}`,
  ];
}

/** Formats members of a list of objects as a table. Each column is a member's name and the text for absent values. */
export function memberTable(
  list: readonly unknown[],
  columns: Readonly<Record<string, string | ((item: unknown) => string)>>,
): string {
  const rows = list.map((item) =>
    Object.entries(columns).map(([name, absent]) =>
      typeof absent === "function" ? absent(item) : String(member(item, name) ?? absent)
    )
  );
  return textTable([Object.keys(columns), ...rows]);
}
