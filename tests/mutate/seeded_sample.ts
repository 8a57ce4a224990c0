/**
 * As many of a list as are wanted, in their order. What is drawn depends on the seed and on the item itself, not on what
 * else is in the list, so that a sample changes no more than the code that it was drawn of.
 * @param keyOf What an item is known by.
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

/** A number that looks random of a text (FNV-1a, mixed once more so that texts with the same beginning part). */
function fnv1a(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  return (hash ^ (hash >>> 13)) >>> 0;
}
