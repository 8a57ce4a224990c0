/** What one sign of a pattern stands for: any characters, none or more; or one that it accepts. */
export type Wildcard = "any" | ((character: string) => boolean);

/** Whether a pattern is all of a text: `*` stands for any characters, `?` for one. */
export function matchesWildcards(text: string, pattern: string): boolean {
  return matchesAll(text, Array.from(pattern, wildcardOf));
}

/** What a character means that is not part of a set. */
export function wildcardOf(character: string): Wildcard {
  if (character === "*") return "any";
  return character === "?" ? () => true : (found) => found === character;
}

/** Whether a pattern is all of a text. Takes at most pattern times text steps, whatever the pattern. */
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
      // The last `any` takes one character more.
      at = ++retry.at;
      next = retry.next;
    } else return false;
  }
  while (pattern[next] === "any") next++;
  return next === pattern.length;
}
