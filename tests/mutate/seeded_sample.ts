/** As many of a list as are wanted, in their order; the same for the same seed. */
export function seededSample<Item>(all: readonly Item[], count: number, seed: number): Item[] {
  const next = mulberry32(seed);
  return all.map((item, at) => ({ item, at, draw: next() }))
    .sort((a, b) => a.draw - b.draw)
    .slice(0, count)
    .sort((a, b) => a.at - b.at)
    .map(({ item }) => item);
}

/** A sequence of numbers from 0 to 1 that looks random (mulberry32). */
function mulberry32(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
