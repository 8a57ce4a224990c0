import type { Stopwatch } from "../model/clock.ts";

/** Within this part of its lifetime a key that is seen again and again counts as seen once. */
const ONCE = 1 / 1000;

/**
 * Keys seen within some time, in bounded space: the one seen longest ago, as exactly as {@link ONCE} says, makes room.
 * A key is of the group that its text names before the first NUL.
 */
export class KnownClients {
  readonly #seen = new Map<string, number>();
  /** The moment noted last. */
  #latest = 0;
  /** Number of keys of each group. */
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

  /** How many keys of a group were seen; may count some whose time is over. */
  countOf(group: string): number {
    return this.#groups.get(group) ?? 0;
  }

  /** @returns The moment, unless it counts as seen before. */
  add(key: string): number | undefined {
    const now = this.#elapsed();
    const before = this.#seen.get(key);
    if (before !== undefined && now - before < this.#lifetimeMs * ONCE) return undefined;
    this.#forgetOldest((at) => at + this.#lifetimeMs <= now);
    this.#put(key, now);
    return now;
  }

  /** Notes that a key was seen elsewhere not long ago. @returns Whether that is news. */
  note(key: string, at: number): boolean {
    if (at - (this.#seen.get(key) ?? -Infinity) < this.#lifetimeMs * ONCE) return false;
    this.#put(key, at);
    return true;
  }

  /** Keys with the moment they were seen last, as the clock counts, at most so many: the latest first. */
  entries(most: number): [string, number][] {
    return [...this.#seen].reverse().slice(0, most);
  }

  /** Takes over what another saw, the latest first; of two moments of one key the later stays. */
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
