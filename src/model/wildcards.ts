/** Part of a pattern: any run of characters, or one character that it accepts. */
export type Wildcard = "any" | ((character: string) => boolean);

/** Reports whether a pattern matches a whole text: `*` for any characters, `?` for one. */
export function matchesWildcards(text: string, pattern: string): boolean {
  return matchesAll(text, Array.from(pattern, wildcardOf));
}

/** Returns the meaning of a character outside a set. */
export function wildcardOf(character: string): Wildcard {
  if (character === "*") return "any";
  return character === "?" ? () => true : (found) => found === character;
}

/** Reports whether a pattern matches a whole text, in O(pattern × text) steps. */
export function matchesAll(text: string, pattern: readonly Wildcard[]): boolean {
  const characters = [...text];
  let [at, next] = [0, 0];
  let retry: { at: number; next: number } | undefined;
  while (at < characters.length) {
    const wanted = pattern[next];
    if (wanted === "any") {
      retry = { at, next: ++next };
    } else if (wanted?.(characters[at] ?? "")) {
      at++;
      next++;
    } else if (retry !== undefined) {
      // The last `any` takes one more character.
      at = ++retry.at;
      next = retry.next;
    } else return false;
  }
  while (pattern[next] === "any") next++;
  return next === pattern.length;
}

/** Splits a list as daemons do: by `:`, trimmed, without empty patterns. */
export function patternsOf(list: string): readonly string[] {
  return list.split(":").map((pattern) => pattern.trim()).filter((pattern) => pattern !== "");
}

/** Reports whether daemons resolve a pattern from the session's directory instead of the root. */
export function isRelativePattern(pattern: string): boolean {
  return !pattern.startsWith("/");
}

/** Reports whether a pattern's meaning depends on the session's directory; `*.txt` and absolute patterns do not. */
export function dependsOnDirectory(pattern: string): boolean {
  return isRelativePattern(pattern) && !/^\*[^*?[/]*$/.test(pattern);
}
