import type { Stopwatch } from "../model/clock.ts";

/** Part of the lifetime within which repeated sightings count once. */
const ONCE = 1 / 1000;

/**
 * Bounded set of recently seen keys; evicts the one seen longest ago, to the precision of {@link ONCE}. The text before
 * a key's first NUL is its group.
 */
export class KnownClients {
  readonly #seen = new Map<string, number>();
  #latest = 0;
  readonly #groups = new Map<string, number>();
  readonly #lifetimeMs: number;
  readonly #capacity: number;
  readonly #elapsed: Stopwatch;

  constructor(
    { lifetimeMs, capacity, elapsed }: { lifetimeMs: number; capacity: number; elapsed: Stopwatch },
  ) {
    this.#lifetimeMs = lifetimeMs;
    this.#capacity = capacity;
    this.#elapsed = elapsed;
  }

  get size(): number {
    return this.#seen.size;
  }

  has(key: string): boolean {
    const at = this.#seen.get(key);
    return at !== undefined && at + this.#lifetimeMs > this.#elapsed();
  }

  /** Number of keys in a group, including some expired ones. */
  countOf(group: string): number {
    return this.#groups.get(group) ?? 0;
  }

  /** Returns the time, unless the key was seen recently. */
  add(key: string): number | undefined {
    const now = this.#elapsed();
    const before = this.#seen.get(key);
    if (before !== undefined && now - before < this.#lifetimeMs * ONCE) return undefined;
    this.#forgetOldest((at) => at + this.#lifetimeMs <= now);
    this.#put(key, now);
    return now;
  }

  /** Records a sighting elsewhere. Returns whether it is new. */
  note(key: string, at: number): boolean {
    if (at - (this.#seen.get(key) ?? -Infinity) < this.#lifetimeMs * ONCE) return false;
    this.#put(key, at);
    return true;
  }

  /** Returns up to `most` keys with their last sighting, latest first. */
  entries(most: number): [string, number][] {
    return [...this.#seen].reverse().slice(0, most);
  }

  /** Merges entries, latest first; the later time of a key wins. */
  adopt(entries: readonly (readonly [string, number])[]): void {
    const others = [...entries].reverse();
    const isNews = others.every(([, at]) => at >= this.#latest);
    const own = isNews ? [] : [...this.#seen];
    for (const [key, at] of [...others, ...own]) this.#put(key, Math.max(at, this.#seen.get(key) ?? 0));
  }

  #put(key: string, at: number): void {
    if (!this.#seen.delete(key)) this.#groups.set(groupOf(key), this.countOf(groupOf(key)) + 1);
    this.#seen.set(key, at);
    this.#latest = Math.max(this.#latest, at);
    if (this.#seen.size > this.#capacity) this.#forgetOldest(() => true);
  }

  #forgetOldest(concerns: (at: number) => boolean): void {
    const [oldest] = this.#seen;
    if (oldest === undefined || !concerns(oldest[1])) return;
    const [key] = oldest;
    this.#seen.delete(key);
    const others = this.countOf(groupOf(key)) - 1;
    if (others > 0) this.#groups.set(groupOf(key), others);
    else this.#groups.delete(groupOf(key));
  }
}

function groupOf(key: string): string {
  return key.slice(0, Math.max(0, key.indexOf("\0")));
}
