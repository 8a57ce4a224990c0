/** Returns `, did you mean …?` for a similar word, else an empty text. */
export function suggestion(typed: string, words: Iterable<string>, before = ""): string {
  const meant = didYouMean(typed, words);
  return meant === undefined ? "" : `, did you mean ${before}${meant}?`;
}

/** Returns the word that a typo most likely means, if one is similar enough. */
export function didYouMean(typed: string, words: Iterable<string>): string | undefined {
  const limit = Math.max(1, Math.min(3, Math.floor(typed.length / 4)));
  let best: { word: string; distance: number } | undefined;
  for (const word of words) {
    if (Math.abs(word.length - typed.length) > limit) continue;
    const distance = editDistance(typed.toLowerCase(), word.toLowerCase());
    if (distance <= limit && (best === undefined || distance < best.distance)) best = { word, distance };
  }
  return best?.word;
}

/** Counts insertions, deletions, replacements and swaps of neighbours between two texts. */
export function editDistance(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row++) {
    const current = [row];
    for (let column = 1; column <= b.length; column++) {
      const same = a[row - 1] === b[column - 1];
      let cost = Math.min(
        at(last, column) + 1,
        at(current, column - 1) + 1,
        at(last, column - 1) + (same ? 0 : 1),
      );
      if (row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1]) {
        cost = Math.min(cost, at(beforeLast, column - 2) + 1);
      }
      current.push(cost);
    }
    beforeLast = last;
    last = current;
  }
  return at(last, b.length);
}

function at(row: readonly number[], column: number): number {
  return row[column] ?? Infinity;
}
