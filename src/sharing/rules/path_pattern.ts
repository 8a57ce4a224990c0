import { matchesAll, type Wildcard, wildcardOf } from "../../model/wildcards.ts";

/**
 * Whether a pattern matches a path, as the daemon has it (daemon-protocol.md 4): against the whole absolute path,
 * case-sensitive, `*` is any text including `/`, `?` one character, `[abc]` and `[!abc]` one of, or none of, a set with
 * ranges.
 */
export function matchesPattern(pattern: string, path: string): boolean {
  return matchesAll(path, tokenize(pattern));
}

/** Whether a pattern matches everything below a directory, which is given with its trailing slash. */
export function coversAllBelow(pattern: string, directory: string): boolean {
  // A last `*` that may match nothing after `directory` may as well match anything there.
  return pattern.endsWith("*") && matchesPattern(pattern, directory);
}

/** Whether whatever a pattern matches lies below a directory, which is given with its trailing slash. */
export function staysBelow(pattern: string, directory: string): boolean {
  return literalStart(pattern).startsWith(directory);
}

/** Whether a pattern might match something below a directory, which is given with its trailing slash. */
export function mayMatchBelow(pattern: string, directory: string): boolean {
  const start = literalStart(pattern);
  return start.startsWith(directory) || (directory.startsWith(start) && start !== pattern);
}

/** Patterns, one or none, for what two patterns both match; undefined if that is not known. */
export function commonPatterns(a: string, b: string): readonly string[] | undefined {
  if (covers(a, b)) return [b];
  if (covers(b, a)) return [a];
  const [startA, startB] = [literalStart(a), literalStart(b)];
  const apart = !startA.startsWith(startB) && !startB.startsWith(startA);
  return apart || !hasWildcards(a) || !hasWildcards(b) ? [] : undefined;
}

/** Whether one pattern surely matches all that another matches. */
function covers(wide: string, narrow: string): boolean {
  if (wide === narrow) return true;
  if (!hasWildcards(narrow)) return matchesPattern(wide, narrow);
  const start = literalStart(wide);
  return wide === `${start}*` && literalStart(narrow).startsWith(start);
}

/** Whether a text has characters with a meaning in patterns. */
export function hasWildcards(text: string): boolean {
  return /[*?[]/.test(text);
}

/** A pattern that matches this text and nothing else. A `:` cannot be expressed: it separates patterns. */
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

/** Where the `]` of a set stands; a `]` right at its start belongs to the set. Negative: the `[` is an ordinary one. */
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
