/**
 * Draws up to `count` items of a list, and keeps their order. The rank of an item depends only on the seed
 * and its key, not on other items, so that a sample changes no more than the code from which it is drawn.
 * @param keyOf Returns the key of an item.
 */
export function seededSample<Item>(
  all: readonly Item[],
  count: number,
  seed: number,
  keyOf: (item: Item) => string,
): Item[] {
  return all.map((item, at) => ({ item, at, draw: fnv1a(`${seed} ${keyOf(item)}`) }))
    .sort((a, b) => a.draw - b.draw || a.at - b.at)
    .slice(0, count)
    .sort((a, b) => a.at - b.at)
    .map(({ item }) => item);
}

/** Returns a hash of a text: FNV-1a, mixed once more so that texts with the same beginning differ widely. */
function fnv1a(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  return (hash ^ (hash >>> 13)) >>> 0;
}
