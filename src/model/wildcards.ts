/** Whether a pattern is all of a text: `*` stands for any characters, `?` for one. Takes at most pattern times text steps. */
export function matchesWildcards(text: string, pattern: string): boolean {
  const [characters, wanted] = [[...text], [...pattern]];
  let [at, next] = [0, 0];
  let retry: { at: number; next: number } | undefined;
  while (at < characters.length) {
    if (wanted[next] === "*") {
      retry = { at, next: ++next };
    } else if (wanted[next] === "?" || wanted[next] === characters[at]) {
      at++;
      next++;
    } else if (retry !== undefined) {
      // The last `*` takes one character more.
      at = ++retry.at;
      next = retry.next;
    } else return false;
  }
  while (wanted[next] === "*") next++;
  return next === wanted.length;
}
