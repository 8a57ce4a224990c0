import type { JsonMembers } from "../../bin/docs/command_output.ts";

/**
 * Returns the differences between a value and its documentation: members that the documentation lacks, and
 * members that it promises and the value lacks.
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

/** Splits `bans[].until` into `bans`, `[]`, `until`. */
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

/** Reports whether a documented path covers a printed one. A final `*` covers everything; empty lists match. */
function covers(documented: readonly string[], printed: readonly string[]): boolean {
  const same = (token: string, i: number) => token === documented[i] || documented[i] === "*";
  if (documented.at(-1) === "*") {
    return printed.length >= documented.length && documented.every((_, i) => same(printed[i] ?? "", i));
  }
  const isEmptyList = printed.at(-1) === "[]" && printed.length < documented.length;
  return (isEmptyList || printed.length === documented.length) && printed.every(same);
}

/** Reports whether a path exists, in each element of the lists on the way. */
function isThere(value: unknown, [token, ...rest]: readonly string[]): boolean {
  if (token === undefined) return true;
  if (token === "[]") return Array.isArray(value) && value.every((item) => isThere(item, rest));
  if (typeof value !== "object" || value === null) return false;
  if (token === "*") return Object.values(value).every((member) => isThere(member, rest));
  return Object.hasOwn(value, token) &&
    isThere(Object.entries(value).find(([name]) => name === token)?.[1], rest);
}
