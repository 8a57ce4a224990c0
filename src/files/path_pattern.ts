import { matchesAll, type Wildcard, wildcardOf } from "../model/wildcards.ts";

/** Matches a whole path as the daemon does (daemon-protocol.md 4): `*` also matches `/`; `?`, `[abc]` and `[!abc]`. */
export function matchesPattern(pattern: string, path: string): boolean {
  return matchesAll(path, tokenize(pattern));
}

/** Reports whether a pattern matches everything below a directory (with its last slash). */
export function coversAllBelow(pattern: string, directory: string): boolean {
  // A last `*` that matches nothing after `directory` also matches anything.
  return pattern.endsWith("*") && matchesPattern(pattern, directory);
}

/** Reports whether all matches of a pattern are below a directory (with its last slash). */
export function staysBelow(pattern: string, directory: string): boolean {
  return literalStart(pattern).startsWith(directory);
}

/** Reports whether a pattern might match below a directory (with its last slash). */
export function mayMatchBelow(pattern: string, directory: string): boolean {
  const start = literalStart(pattern);
  return start.startsWith(directory) || (directory.startsWith(start) && start !== pattern);
}

/** Returns patterns for the intersection; undefined if unknown. */
export function commonPatterns(a: string, b: string): readonly string[] | undefined {
  if (covers(a, b)) return [b];
  if (covers(b, a)) return [a];
  const [startA, startB] = [literalStart(a), literalStart(b)];
  const apart = !startA.startsWith(startB) && !startB.startsWith(startA);
  return apart || !hasWildcards(a) || !hasWildcards(b) ? [] : undefined;
}

function covers(wide: string, narrow: string): boolean {
  if (wide === narrow) return true;
  if (!hasWildcards(narrow)) return matchesPattern(wide, narrow);
  const start = literalStart(wide);
  return wide === `${start}*` && literalStart(narrow).startsWith(start);
}

/** Reports whether a text contains pattern characters. */
export function hasWildcards(text: string): boolean {
  return /[*?[]/.test(text);
}

/** Escapes a text as a pattern. A `:` cannot be escaped: it separates patterns. */
export function escapePattern(text: string): string {
  return text.replace(/[*?[]/g, "[$&]");
}

function literalStart(pattern: string): string {
  const end = pattern.search(/[*?[]/);
  return end < 0 ? pattern : pattern.slice(0, end);
}

function tokenize(pattern: string): Wildcard[] {
  const characters = [...pattern];
  const tokens: Wildcard[] = [];
  for (let i = 0; i < characters.length; i++) {
    const character = characters[i] ?? "";
    const end = character === "[" ? endOfSet(characters, i) : -1;
    if (end === -1) tokens.push(wildcardOf(character));
    else {
      tokens.push(oneOf(characters.slice(i + 1, end)));
      i = end;
    }
  }
  return tokens;
}

/** Returns the index of the closing `]`; a `]` at the start belongs to the set. Negative: the `[` is literal. */
function endOfSet(characters: readonly string[], start: number): number {
  let first = start + 1;
  if (characters[first] === "!") first++;
  return characters.indexOf("]", first + 1);
}

function oneOf(set: readonly string[]): (character: string) => boolean {
  const negated = set[0] === "!";
  const members = negated ? set.slice(1) : set;
  const ranges: [string, string][] = [];
  for (let i = 0; i < members.length; i++) {
    const from = members[i] ?? "";
    const to = members[i + 2];
    if (members[i + 1] === "-" && to !== undefined) {
      ranges.push([from, to]);
      i += 2;
    } else ranges.push([from, from]);
  }
  const code = (character: string) => Number(character.codePointAt(0));
  return (character) =>
    ranges.some(([from, to]) => code(from) <= code(character) && code(character) <= code(to)) !== negated;
}
