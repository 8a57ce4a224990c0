import type { JsonMembers } from "../../bin/docs/command_output.ts";

/**
 * How a value differs from what is documented of it: members that the documentation does not have, and members that it
 * promises and that are not there.
 */
export function jsonDifferences(value: unknown, members: JsonMembers): string[] {
  const documented = Object.keys(members).map((path) => ({
    tokens: tokensOf(path.replace(/\?$/, "")),
    optional: path.endsWith("?"),
    path,
  }));
  const printed = [...new Set(leafPaths(value).map((tokens) => tokens.join(" ")))].map((path) =>
    path.split(" ")
  );
  const unknown = printed.filter((leaf) => !documented.some(({ tokens }) => covers(tokens, leaf)));
  return [
    ...unknown.map((tokens) => `not documented: ${tokens.join(".")}`),
    ...documented.filter(({ tokens, optional }) => !optional && !isThere(value, tokens))
      .map(({ path }) => `not there: ${path}`),
  ];
}

/** `bans[].until` as `bans`, `[]`, `until`. */
function tokensOf(path: string): string[] {
  return path.replaceAll("[]", ".[]").split(".").filter((token) => token !== "");
}

function leafPaths(value: unknown, path: readonly string[] = []): string[][] {
  if (typeof value !== "object" || value === null) return [[...path]];
  if (Array.isArray(value)) {
    return value.length === 0 ? [[...path, "[]"]] : value.flatMap((item) => leafPaths(item, [...path, "[]"]));
  }
  return Object.entries(value).flatMap(([name, member]) => leafPaths(member, [...path, name]));
}

/** Whether a documented path is a printed one; `*` at its end stands for all below. An empty list shows no members. */
function covers(documented: readonly string[], printed: readonly string[]): boolean {
  const same = (token: string, i: number) => token === documented[i] || documented[i] === "*";
  if (documented.at(-1) === "*") {
    return printed.length >= documented.length && documented.every((_, i) => same(printed[i] ?? "", i));
  }
  const isEmptyList = printed.at(-1) === "[]" && printed.length < documented.length;
  return (isEmptyList || printed.length === documented.length) && printed.every(same);
}

/** Whether a path is there, in each element of the lists on the way. */
function isThere(value: unknown, [token, ...rest]: readonly string[]): boolean {
  if (token === undefined) return true;
  if (token === "[]") return Array.isArray(value) && value.every((item) => isThere(item, rest));
  if (typeof value !== "object" || value === null) return false;
  if (token === "*") return Object.values(value).every((member) => isThere(member, rest));
  return Object.hasOwn(value, token) &&
    isThere(Object.entries(value).find(([name]) => name === token)?.[1], rest);
}
